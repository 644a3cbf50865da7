# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many calls in one process, which a crash or a hang ends: the next process goes on behind the call that did it."""
import mmap
import os
import pickle
import resource
import select
import signal
import time

import observe

BATCH = 2000  # calls of one process


def work(fuzzer, seed, indices, progress, pipe):
    observe.end_with_parent()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not fuzzer.sanitized:
        resource.setrlimit(resource.RLIMIT_AS, (observe.MEMORY, observe.MEMORY))
    for n, index in enumerate(indices):
        progress[:8] = n.to_bytes(8, "little")
        found = fuzzer.call(seed, index)
        if found:
            data = pickle.dumps((n, found, fuzzer.description))
            os.write(pipe, len(data).to_bytes(8, "little") + data)
    progress[:8] = len(indices).to_bytes(8, "little")


def batch(fuzzer, seed, indices):
    """(number of calls that were made, findings, how the process ended)"""
    progress = mmap.mmap(-1, 8)
    here, there = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work(fuzzer, seed, indices, progress, there)
            code = 0
        finally:
            os._exit(code)
    os.close(there)
    received, last, since = b"", -1, time.monotonic()
    hangs = False
    while True:
        ready, _, _ = select.select([here], [], [], 1)
        data = os.read(here, 1 << 20) if ready else None
        if data == b"":
            break
        received += data or b""
        now = int.from_bytes(progress[:8], "little")
        if now != last:
            last, since = now, time.monotonic()
        elif time.monotonic() - since > observe.SECONDS * 6:  # of a busy machine
            hangs = True
            os.kill(pid, signal.SIGKILL)
    os.close(here)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    done, findings = int.from_bytes(progress[:8], "little"), []
    while received:
        size = int.from_bytes(received[:8], "little")
        findings.append(pickle.loads(received[8:8 + size]))
        received = received[8 + size:]
    return done, findings, "hang" if hangs else code and (f"signal {signal.Signals(-code).name}" if code < 0 else f"exit {code}")


def each(fuzzer, seed, indices, end):
    """Yields (index, None or (signature, description, what to store)) for all indices, until the time is over."""
    at = 0
    while at < len(indices) and not (end and time.time() > end):
        part = indices[at:at + BATCH]
        done, findings, ended = batch(fuzzer, seed, part)
        found = {part[n]: (what, ", ".join(description)) for n, what, description in findings}
        if ended and done < len(part):
            found[part[done]] = (ended, "the process of the calls ended")
            done += 1
        for index in part[:done]:
            what = found.get(index)
            yield index, what and (observe.signature(what[0].split(", first")[0], ""), f"{what[0]}: {what[1]}", f"{seed} {index}\n".encode())
        at += done
