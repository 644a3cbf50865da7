# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs attn-opt as a child process and keeps what it makes.

Libraries lie in a cache on disk under a key of the specification's text, the
options, the compiler and the processor; lengths are not in it, so they never
cause a compilation. Entries appear whole or not at all: they are made beside
their place and moved there. Each ends with the SHA-256 of what stands in front,
so that a damaged one is seen, and made again. Where the cache cannot be
written, libraries lie in a folder of this process.
"""
import atexit
import contextlib
import functools
import hashlib
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import threading


from ._call import Error

try:
    import fcntl
except ImportError:  # a system without it has no lock, and may compile twice
    fcntl = None

_MARK = b"attn-sha256:"
_TRAILER = len(_MARK) + hashlib.sha256().digest_size
_NEWEST_FILES = 4096  # what the cache keeps


def find_attn_opt():
    """The compiler: $ATTN_OPT, beside this package, or on the PATH."""
    named = os.environ.get("ATTN_OPT")
    if named:
        if not os.access(named, os.X_OK):
            raise Error(f"ATTN_OPT names {named!r}, which is no program")
        return os.path.abspath(named)
    beside = pathlib.Path(__file__).parent / "bin" / "attn-opt"
    if beside.exists():
        return str(beside)
    found = shutil.which("attn-opt")
    if not found:
        raise Error("cannot find attn-opt: put it on the PATH, or its path into the variable ATTN_OPT")
    return found


def cache_folder():
    """Where compiled kernels are kept: $ATTN_CACHE, or attn in the user's
    folder of caches ($XDG_CACHE_HOME, ~/.cache)."""
    named = os.environ.get("ATTN_CACHE")
    if named:
        return pathlib.Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(base) / "attn"


def clear_cache():
    """Removes every compiled kernel from the cache; loaded ones go on working."""
    shutil.rmtree(cache_folder(), ignore_errors=True)


@functools.lru_cache(None)
def _processor():
    """What `--target=native` depends on."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as lines:
        first = []
        for line in lines:
            if not line.strip():
                break
            if line.startswith(("model name", "vendor_id", "cpu family", "model\t", "stepping", "flags", "Features", "CPU ")):
                first.append(line)
        return "".join(first)
    return platform.processor()


def _identity(tool):
    """What says that a compiler is another one, without running it."""
    tool = os.path.realpath(tool)
    runtime = pathlib.Path(tool).parent.parent / "lib" / "libattn-rt.a"
    stats = [os.stat(p) for p in (tool, runtime) if os.path.exists(p)]
    return [tool, [(s.st_size, s.st_mtime_ns) for s in stats]]


def _key(text, arguments, tool, beside=""):
    parts = [1, text, beside, arguments, _identity(tool), _processor(), platform.machine()]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def run(arguments, text=None, what="compiling"):
    """Runs attn-opt; returns its output. Raises Error with its own line."""
    command = [find_attn_opt(), *arguments]
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise Error(f"cannot run {command[0]}: {error.strerror}") from None
    with process, _progress(what):
        output, errors = process.communicate(None if text is None else text.encode())
    if process.returncode == 0:
        return output.decode(errors="replace")
    message = errors.decode(errors="replace").strip()
    if process.returncode < 0:
        message = f"attn-opt ended by signal {-process.returncode}. {message}"
    raise Error(message or f"attn-opt ended with status {process.returncode} and said nothing")


@contextlib.contextmanager
def _progress(what):
    """Says on a terminal what takes longer than a second."""
    if not sys.stderr.isatty():
        yield
        return
    timer = threading.Timer(1.0, lambda: sys.stderr.write(f"attn: {what} ..\r"))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        sys.stderr.write("\x1b[2K")


@functools.lru_cache(None)
def _own_folder():
    """A folder of this process, for where there is no cache."""
    folder = tempfile.mkdtemp(prefix="attn-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return pathlib.Path(folder)


@contextlib.contextmanager
def _lock(path):
    """One process compiles an entry; others wait for it. Systems that cannot
    lock compile twice, and the later result replaces an equal one."""
    try:
        file = open(path, "a")
    except OSError:
        yield
        return
    with file:
        if fcntl:
            with contextlib.suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _is_whole(path):
    try:
        data = path.read_bytes()
    except OSError:
        return False
    body, trailer = data[:-_TRAILER], data[-_TRAILER:]
    return len(data) > _TRAILER and trailer == _MARK + hashlib.sha256(body).digest()


def _make(source, text, arguments, place):
    """Compiles to `place`, which is complete from the moment it exists."""
    with tempfile.TemporaryDirectory(prefix="making-", dir=place.parent) as folder:
        made = pathlib.Path(folder) / "kernel.so"
        run([source, "--emit=lib", *arguments, "-o", str(made)], text)
        with open(made, "ab") as file:
            file.write(_MARK + hashlib.sha256(made.read_bytes()).digest())
        os.replace(made, place)


def _prune(folder):
    """Drops the entries that were not used for longest."""
    entries = sorted(folder.glob("*.so"), key=lambda p: p.stat().st_mtime)
    for entry in entries[:-_NEWEST_FILES]:
        for path in (entry, entry.with_suffix(".lock")):
            path.unlink(missing_ok=True)


def _library_in(folder, key, source, text, arguments):
    place = folder / f"{key}.so"
    if not _is_whole(place):
        with _lock(folder / f"{key}.lock"):
            if not _is_whole(place):  # no other process made it meanwhile
                _make(source, text, arguments, place)
                with contextlib.suppress(OSError):
                    _prune(folder)
    else:
        with contextlib.suppress(OSError):
            os.utime(place)
    return place


def library(text, arguments=(), source="-", beside=""):
    """The shared library of a specification, compiled if it is not cached.

    `source` is what attn-opt reads: a file's name, or - for `text`. `beside`
    says what else the library depends on."""
    arguments = list(arguments)
    tool = find_attn_opt()
    key = _key(text, arguments, tool, beside)
    given = text if source == "-" else None
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return _library_in(folder, key, source, given, arguments)
    except OSError:
        pass  # A cache that cannot be written is none.
    except Error as error:
        if not _is_out_of_space(str(error)):
            raise
    return _library_in(_own_folder(), key, source, given, arguments)


def _is_out_of_space(message):
    return any(text in message for text in ("No space left", "Read-only file system", "Disk quota", "Input/output error"))


_loaded = {}
_loading = threading.Lock()


def load(kind, text, name, arguments=(), source="-", beside=""):
    """The kernel `name` of a specification, as a `kind` of _call.Kernel."""
    arguments = tuple(arguments)
    with _loading:
        at = (kind, text, name, arguments, beside, os.environ.get("ATTN_OPT"))
        if at not in _loaded:
            _loaded[at] = kind(library(text, arguments, source, beside), name)
        return _loaded[at]


__all__ = ["Error", "cache_folder", "clear_cache", "find_attn_opt", "library", "load", "run"]
