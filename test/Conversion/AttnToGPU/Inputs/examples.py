# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every example for a GPU, as PTX. One in eight becomes a cubin, which must not spill, and
runs by a driver that needs no GPU (test/Runtime/GPU), compared with attn-reference.
usage: examples.py EXAMPLES DRIVER [--only=NAME,..] [--every=N] [--of=K] [--all]
--every, --of: examples K, K + N, .. run; --all: all, which takes some minutes."""
import os
import pathlib
import re
import subprocess
import sys

import numpy as np

# Other sizes than a batch of 1 and lengths of 37, and integers.
SHAPES = {
    "cross-decoder": {"memory": (1, 21, 64), "len": (1,)},
    "encoder-layer": {"len": (1,)}, "mha-self": {"kv_len": (1,)}, "mha-self-causal": {"kv_len": (1,)}, "mha-cross": {"kv_len": (1,)},
    "prefix-lm": {"n": (1,)}, "mla": {"q": (1, 16, 3, 576), "lengths": (1,)}, "tree": {"tree": (1, 16), "len": (1,)},
    "chunked-prefill": {"k": (1, 2, 20, 64), "v": (1, 2, 20, 64)},
    "ragged": {"cu_q": (4,), "cu_k": (4,), "k": (45, 2, 64), "v": (45, 2, 64)}, "rope-sinks": {"cos": (50, 32), "sin": (50, 32)},
    "decoder-layer": {"keys": (1, 2, 50, 16), "values": (1, 2, 50, 16), "cos": (50, 8), "sin": (50, 8)}, "weights/block": {"x": (2, 5, 32)},
}
INTEGERS = {
    "cross-decoder": [18], "encoder-layer": [30], "mha-self": [30], "mha-self-causal": [30], "mha-cross": [30], "prefix-lm": [9], "mla": [33], "decoder-layer": range(9, 46),
    "tree": {"tree": [-1, 0, 0, 1, 1, 2, 3, 3, 4, 5, 6, 7, 8, 9, 9, 10], "len": [35]}, "document-causal": [0] * 12 + [1] * 9 + [2] * 16,
    "ragged": {"cu_q": [0, 5, 5, 37], "cu_k": [0, 9, 12, 45]}, "head-windows": [1, 2, 3, 5, 8, 13, 21, 34],
}
TOLERANCE = 1e-5  # of the largest result

rng = np.random.default_rng(11)


def signature(source):
    """Of the first public function."""
    text = subprocess.run(["attn-opt", source, "--compile-to=input"], check=True, capture_output=True, text=True).stdout
    return next(line for line in text.splitlines() if re.match(r" *func\.func @", line))


def entry_of(source):
    return re.search(r"@(\w+)", signature(source))[1]


def arguments(source):
    """Names and types of the first public function."""
    given, results = signature(source).split(" -> ")
    taken = [(m[2], m[1].split("x")[:-1], m[1].split("x")[-1]) for m in re.finditer(r'tensor<([^>]*)> \{[^}]*attn\.name = "(\w+)"', given)]
    return taken, len(re.findall(r'attn\.name = "', results))


def fill(name, argument, dims, element):
    shape = SHAPES.get(name, {}).get(argument) or [int(dim) if dim != "?" else 1 if i == 0 and len(dims) > 2 else 37 for i, dim in enumerate(dims)]
    if element in ("i32", "i64"):
        numbers = INTEGERS[name]
        return np.array(numbers[argument] if isinstance(numbers, dict) else numbers, {"i32": np.int32, "i64": np.int64}[element]).reshape(shape)
    weight = len(shape) == 2 and argument.startswith("w")
    return (rng.standard_normal(shape) / (np.sqrt(shape[0]) if weight else 1)).astype(np.float32)


def make_arguments(name, source):
    """The files, and the number of results."""
    taken, results = arguments(source)
    for argument, dims, element in taken:
        np.save(f"{argument}.npy", fill(name, argument, dims, element))
    return [f"{argument}.npy" for argument, _, _ in taken], results


def difference(found, wanted, slack=1):
    """What is wrong with a result, beside float64, or nothing. `slack`: how many times the tolerance is right."""
    found, wanted = np.load(found).astype(np.float64), np.load(wanted).astype(np.float64)
    limit = slack * TOLERANCE * max(1, np.abs(wanted[np.isfinite(wanted)]).max(initial=0))
    same = np.array_equal(np.isfinite(wanted), np.isfinite(found))
    error = np.abs(wanted - found, where=np.isfinite(wanted), out=np.zeros(wanted.shape)).max(initial=0)
    if not same or error > limit:
        return f"{error} is more than {limit}" if same else "NaN or infinity in other places"
    return ""


def run(name, source, program, driver):
    inputs, results = make_arguments(name, source)
    outputs, expected = [[f"{what}{i}.npy" for i in range(results)] for what in ("out", "expected")]
    subprocess.run(["attn-reference", source, *inputs, *(f"-o={path}" for path in expected)], check=True)
    pathlib.Path("log").unlink(missing_ok=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": driver, "FAKE_CUDA_LOG": "log"}
    result = subprocess.run([program, *inputs, *(f"-o{path}" for path in outputs)], capture_output=True, text=True, env=environment)
    faults = [line for line in pathlib.Path("log").read_text().splitlines() if "fault" in line or "left" in line]
    if result.returncode or faults:
        return result.stderr.strip() + "\n".join(faults)
    return next(filter(None, map(difference, outputs, expected)), "")


def check(name, source, driver, runs):
    output = ["--emit=exe", "-o", "program"] if runs else ["--emit=ptx", "-o", "kernels.ptx"]
    done = subprocess.run(["attn-opt", source, "--target=sm_80", *output], capture_output=True, text=True)
    # With ptxas, the program's kernels were assembled.
    if done.returncode or "C75" in done.stderr or re.search("spills [0-9]+ bytes", done.stderr):
        return done.stderr
    return run(name, source, "./program", driver) if runs else ""


def names_and_sources(folder):
    """All but one whose weights are made by a script."""
    for source in sorted([*folder.glob("*.mlir"), *folder.glob("*/*.mlir")]):
        name = str(source.relative_to(folder).with_suffix(""))
        if name != "weights/block":
            yield name, source


def main():
    examples, driver = pathlib.Path(sys.argv[1]), sys.argv[2]
    options = dict(option.lstrip("-").split("=") if "=" in option else (option.lstrip("-"), "") for option in sys.argv[3:])
    only = options["only"].split(",") if "only" in options else None
    every, of = (1, 0) if "all" in options or only else (int(options.get("every", 8)), int(options.get("of", 0)))
    wrong, count = [], 0
    for number, (name, source) in enumerate(names_and_sources(examples)):
        if only and name not in only:
            continue
        count += 1
        if problem := check(name, source, driver, number % every == of % every):
            wrong.append(f"{name}: {problem}")
            print(wrong[-1], flush=True)
    print(f"{count} examples, {len(wrong)} wrong")
    sys.exit(bool(wrong) or not count)


if __name__ == "__main__":
    main()
