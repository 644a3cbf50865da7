# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program under limits and says what is wrong with how it ended."""
import ctypes
import dataclasses
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import time

SECONDS = 20  # of processor time, which a busy machine does not stretch
WALL = 300  # for a program that waits for what never comes
MEMORY = 4 << 30
SANITIZER = 99


def end_with_parent():
    """A worker whose parent is killed goes with it."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def is_sanitized(tool):
    return b"__asan_init" in pathlib.Path(shutil.which(tool) or tool).read_bytes()


@dataclasses.dataclass
class Outcome:
    code: int  # negative: the signal
    stdout: str
    stderr: str
    seconds: float
    memory: int


def run(command, folder, slow=1, limit_memory=True):
    """Runs in `folder`, with temporary files in its folder tmp. What the program prints goes to files, since a full pipe would
    hold it up."""
    temporary = folder / "tmp"
    environment = {**os.environ, "TMPDIR": str(temporary), "TMP": str(temporary), "LC_ALL": "C"}
    options = f"exitcode={SANITIZER}:detect_leaks=0:allow_user_poisoning=0:use_sigaltstack=0:allocator_may_return_null=1"
    environment["ASAN_OPTIONS"], environment["UBSAN_OPTIONS"] = options, f"exitcode={SANITIZER}:print_stacktrace=1"
    with open(folder / "stdout", "w+b") as out, open(folder / "stderr", "w+b") as err:
        process = subprocess.Popen(command, cwd=folder / "work", env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        try:
            for kind, most in ((resource.RLIMIT_CPU, SECONDS * slow + 1), (resource.RLIMIT_CORE, 0),
                               *([(resource.RLIMIT_AS, MEMORY)] if limit_memory else [])):
                resource.prlimit(process.pid, kind, (most, most))
        except ProcessLookupError:
            pass  # it has ended already
        status, usage = wait(process, time.monotonic() + WALL * slow)
        out.seek(0), err.seek(0)
        code = os.waitstatus_to_exitcode(status)
        process.returncode = code
        return Outcome(code, out.read(1 << 20).decode(errors="replace"), err.read(1 << 20).decode(errors="replace"),
                       usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10)


def wait(process, end):
    pause = 0.0005
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            return status, usage
        if time.monotonic() > end:
            process.kill()
            return os.wait4(process.pid, 0)[1:]
        time.sleep(pause)
        pause = min(pause * 1.3, 0.01)


def ending(outcome, slow=1):
    """What is wrong with the way it ended, or None."""
    if re.search(r"AddressSanitizer|runtime error: ", outcome.stderr) or outcome.code == SANITIZER:
        return "sanitizer"
    if outcome.seconds > SECONDS * slow:
        return "hang"
    if outcome.code < 0:
        return "hang" if outcome.code == -signal.SIGKILL else f"signal {signal.Signals(-outcome.code).name}"
    if outcome.code == 70:
        return "exit 70"
    if outcome.code not in (0, 1, 2):
        return f"exit {outcome.code}"
    if outcome.memory > MEMORY:
        return "memory"
    if outcome.code and not outcome.stderr.strip():
        return "empty message"
    if outcome.code and "error" not in outcome.stderr and outcome.code != 2:
        return "no error line"
    return None


def signature(kind, stderr):
    """The same for findings of one cause, as far as text can tell."""
    lines = [line for line in stderr.splitlines() if re.search(r"error|Assertion|LLVM ERROR|SUMMARY|Sanitizer", line)]
    text = lines[0] if lines else ""
    if kind == "sanitizer":
        text = next((line for line in lines if "runtime error" in line or "SUMMARY" in line), text)
    text = re.sub(r"^\S*?:(\d+:\d+: )?|\S*/", "", text)
    text = re.sub(r"'[^']*[%<x][^']*'|\"[^\"]*\"|%\w+|@\w+|-?\d+|0x[0-9a-f]+", "N", text)
    return f"{kind}: {' '.join(text.split())[:160]}"


def fresh(folder):
    """An empty place for one run."""
    for name in ("work", "tmp"):
        if (folder / name).exists() and not any((folder / name).iterdir()):
            continue
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)


def leftovers(folder, expected):
    """Files that should not be there: temporary ones, and in the working folder those besides `expected`."""
    names = [f"tmp/{p.name}" for p in (folder / "tmp").iterdir()]
    return sorted(names + [f"work/{p.name}" for p in (folder / "work").iterdir() if p.name not in expected])
