# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a failing input small: parts are left out as long as the same thing goes wrong."""
import re


def without(parts, fails):
    """The parts that are needed: halves, quarters and so on are left out (delta debugging)."""
    size = max(len(parts) // 2, 1)
    while True:
        at, shrunk = 0, False
        while at < len(parts):
            shorter = parts[:at] + parts[at + size:]
            if shorter and fails(shorter):
                parts, shrunk = shorter, True
            else:
                at += size
        if size == 1 and not shrunk:
            return parts
        size = max(size // 2, 1)


def minimize(fuzzer, path):
    data, options = fuzzer.load(path)
    data = re.sub(rb"\A// options: .*\n", b"", data)
    found = fuzzer.check(data, options)
    if not found:
        print("it does not fail")
        return
    signature = found[0]
    fails = lambda data, options: (fuzzer.check(data, options) or (None,))[0] == signature
    options = without([*options, None], lambda words: fails(data, [w for w in words if w]))
    options = [word for word in options if word] or options[:0]
    for pattern in (rb"(?m)^(?=func)", rb"(?m)^(?=  \S)"):  # whole functions, then whole ops
        data = b"".join(without(re.split(pattern, data), lambda parts: fails(b"".join(parts), options)))
    data = b"".join(without(data.splitlines(keepends=True), lambda lines: fails(b"".join(lines), options)))
    if len(data) < 3000:  # then by words
        data = b"".join(without(re.findall(rb"\s*[^\s,]+,?", data), lambda words: fails(b"".join(words), options)))
    target = path.with_suffix(path.suffix + ".min")
    target.write_bytes(fuzzer.stored(data, options))
    print(f"{target}: {len(data)} bytes, {signature}")
