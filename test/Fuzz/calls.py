# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""C calls of compiled functions, right and wrong ones. A right call returns 0 and the bits of a plain call, whatever strides, threads,
work space and pool it has; a wrong one returns a negative status with a text and writes nothing. No call writes outside of its results
and its work space, and none reads over the end of the memory that it was given."""
import ctypes
import mmap
import os
import subprocess

import numpy as np

import corpus  # noqa: F401 (the folder of the programs)
import elements
import hooks
import isolated_calls
import observe
import program
from kernels import MAX_RANK, Tensor

NAMES = ["several-results", "one-row", "half-in-float-out", "merged-states", "ragged-residual", "window-residual", "document-one",
         "one-batch-entry", "differential-residual", "packed-projections", "residual-chain", "pre-norm-layer", "padding-mask"]
ARENA = 1 << 19
PAGE = mmap.PAGESIZE
FILL = 0xA5


class Arena:
    """Memory between two pages that nobody may touch."""

    def __init__(self):
        self.map = mmap.mmap(-1, ARENA + 2 * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        for page in (self.base, self.base + ARENA + PAGE):
            if protect(ctypes.c_void_p(page), ctypes.c_size_t(PAGE), 0):
                raise OSError(ctypes.get_errno(), "mprotect")
        self.start = self.base + PAGE
        self.bytes = np.frombuffer(self.map, np.uint8, ARENA, PAGE)

    def reset(self):
        self.bytes[:] = FILL
        self.low, self.high = 0, ARENA

    def take(self, size, at_end, gap, alignment=64):
        """The offset of a new piece, at the low or at the high end."""
        if at_end:
            self.high = (self.high - size) // alignment * alignment if self.high < ARENA else self.high - size
            offset, self.high = self.high, self.high - gap
        else:
            self.low = -(-self.low // alignment) * alignment
            offset, self.low = self.low, self.low + size + gap
        if self.low > self.high:
            raise MemoryError("the arena is full")
        return offset


class Kernel:
    def __init__(self, tool, text, function, folder):
        source, library = folder / f"{function.name}.mlir", folder / f"{function.name}.so"
        source.write_text(text)
        subprocess.run([tool, str(source), "--emit=lib", "-o", str(library)], check=True)
        dll = ctypes.CDLL(str(library))
        self.run = getattr(dll, function.name)
        self.workspace_size = getattr(dll, function.name + "_workspace_size")
        self.workspace_size.restype = ctypes.c_int64
        self.strerror = getattr(dll, function.name + "_strerror")
        self.strerror.restype = ctypes.c_char_p
        self.ports = [*function.arguments, *function.results]
        self.inputs = len(function.arguments)

        class Args(ctypes.Structure):
            _fields_ = [("size", ctypes.c_size_t), ("ports", Tensor * len(self.ports)), ("workspace", ctypes.c_void_p),
                        ("workspace_size", ctypes.c_size_t), ("parallel_for", ctypes.c_void_p), ("context", ctypes.c_void_p),
                        ("threads", ctypes.c_int32)]
        self.Args = Args


class Calls:
    name, ending = "calls", ".txt"

    def __init__(self, folder, tool=None):
        self.tool = os.path.realpath(tool or os.environ.get("ATTN_OPT", "attn-opt"))
        self.sanitized = observe.is_sanitized(self.tool)
        place = folder.parent / f"{folder.name}-libraries"
        place.mkdir()
        self.entries = [one for one in program.programs() if one.name in NAMES]
        self.kernels = [(one, one.functions[0], Kernel(self.tool, one.unknown(), one.functions[0], place)) for one in self.entries]
        self.arena = Arena()

    # --- for the driver ---

    def check_many(self, seed, indices, end):
        return isolated_calls.each(self, seed, indices, end)

    def load(self, path):
        seed, index = path.read_text().split()[:2]
        return (int(seed), int(index)), []

    def check(self, data, options):
        return next(iter(isolated_calls.each(self, data[0], [data[1]], None)))[1]

    # --- one call ---

    def call(self, seed, index):
        """None, or what is wrong."""
        self.rng = rng = np.random.default_rng([seed, index])
        self.pick = lambda options: options[int(rng.integers(len(options)))]
        one, function, self.kernel = self.kernels[int(rng.integers(len(self.kernels)))]
        sizes = dict(self.pick(one.sizes))
        if rng.random() < 0.3 and not {"P", "N"} & sizes.keys():
            name = self.pick(sorted(sizes))
            sizes[name] = int(self.pick([0, 1, 2, 3] if name == "B" else [0, 1, 2, 3, 17]))
        if min(sizes.values()) == 0 and one.name in ("one-row", "ragged-residual"):
            sizes = dict(one.sizes[0])
        self.description = [one.name, str(sizes)]
        self.arrays = one.inputs(function, sizes, seed=1)
        self.outputs = function.outputs(sizes)
        want = self.plain()
        if want is None:
            return "a plain call is refused"
        self.place()
        expected = self.vary()
        return self.compare(expected, want)

    def note(self, text):
        self.description.append(text)

    def plain(self):
        """The results of the simplest call."""
        args = self.kernel.Args(size=ctypes.sizeof(self.kernel.Args), threads=1)
        results = [np.empty_like(x) for x in self.outputs]
        for i, array in enumerate([*self.arrays, *results]):
            args.ports[i] = Tensor.of(array)
        return results if self.kernel.run(ctypes.byref(args)) == 0 else None

    def place(self):
        """All tensors in the arena, with strides of any kind."""
        self.arena.reset()
        self.args = args = self.kernel.Args(size=ctypes.sizeof(self.kernel.Args), threads=int(self.pick([1, 1, 2, 3])))
        self.views, self.may_change = [], np.zeros(ARENA, bool)
        plain = self.rng.random() < 0.3
        last = int(self.rng.integers(len(self.kernel.ports)))
        order = [last] + [i for i in range(len(self.kernel.ports)) if i != last]
        views = {}
        for i in order:
            array = [*self.arrays, *self.outputs][i]
            kind = "plain" if plain or not array.size else self.pick(["plain", "plain", "padded", "transposed", "backwards", "every other"])
            views[i] = self.view(array, kind, at_end=i == last)
            if i >= self.kernel.inputs:
                where = np.lib.stride_tricks.as_strided(self.may_change[self.offset(views[i]):], views[i].shape, views[i].strides) if array.size else None
                for byte in range(array.itemsize if array.size else 0):
                    np.lib.stride_tricks.as_strided(self.may_change[self.offset(views[i]) + byte:], views[i].shape, views[i].strides)[...] = True
                del where
            else:
                views[i][...] = array
            args.ports[i] = Tensor.of(views[i])
        self.views = [views[i] for i in range(len(views))]

    def offset(self, view):
        return view.ctypes.data - self.arena.start

    def view(self, array, kind, at_end):
        """Room for an array: a view of bytes of the arena with the strides that are asked for."""
        shape, item = array.shape, array.itemsize
        room = list(shape)
        if kind == "padded" and room:
            room[-1] += int(self.rng.integers(1, 9))
        if kind == "every other" and room:
            room[-1] *= 2
        if kind == "transposed":
            room = room[::-1]
        size = int(np.prod(room)) * item
        offset = self.arena.take(size, at_end, gap=int(self.pick([64, 64, 128, 4096])), alignment=item if at_end else 64)
        offset -= offset % item
        whole = np.frombuffer(self.arena.map, array.dtype, size // item, PAGE + offset).reshape(room)
        if kind == "padded" and room:
            return whole[..., :shape[-1]]
        if kind == "every other" and room:
            return whole[..., ::2]
        if kind == "backwards":
            return whole[tuple(slice(None, None, -1) for _ in room)]
        return whole.T if kind == "transposed" else whole

    # --- variations; each returns "right", "wrong" or "any" ---

    def vary(self):
        kinds = [self.pool] * 6 + [self.threads] * 3 + [
            self.wrong_size, self.null, self.misaligned, self.struct_size, self.zero_stride, self.overlap, self.null_args, self.together]
        chosen = [self.pick(kinds) for _ in range(int(self.pick([0, 1, 1, 2, 2, 3])))]
        verdicts = [kind() for n, kind in enumerate(chosen) if kind not in chosen[:n]]
        # Behind all that it depends on.
        verdicts.append(self.pick([lambda: "right"] * 3 + [self.own_workspace] * 2 + [self.bad_workspace])())
        return "any" if "any" in verdicts else "wrong" if "wrong" in verdicts else "right"

    def port(self, outputs=None):
        low, high = (self.kernel.inputs, len(self.kernel.ports)) if outputs else (0, len(self.kernel.ports))
        return int(self.rng.integers(low, high))

    def wrong_size(self):
        """A size that is not that of the other tensors with the same name for it."""
        dims = [d for t in self.kernel.ports for d in t.dims]
        places = [(i, j) for i, t in enumerate(self.kernel.ports) for j, d in enumerate(t.dims) if isinstance(d, int) or dims.count(d) > 1]
        i, j = places[int(self.rng.integers(len(places)))]
        old = self.args.ports[i].shape[j]
        new = self.pick([old + 1, old - 1, 0, -1, 2**31, 2**61, 2**62, 2**63 - 1, -2**63])
        self.args.ports[i].shape[j] = new
        self.note(f"dimension {j} of port {i} is {new} instead of {old}")
        return "right" if new == old else "wrong"

    def null(self):
        i = self.port()
        self.args.ports[i].data = None
        self.note(f"port {i} is null")
        return "wrong" if self.views[i].size else "right"

    def misaligned(self):
        i = self.port()
        size = self.views[i].itemsize
        if size == 1 or not self.views[i].size:
            return "right"
        by = int(self.rng.integers(1, size))
        self.args.ports[i].data = (self.args.ports[i].data or 64) + by
        self.note(f"port {i} is {by} bytes off")
        return "wrong"

    def struct_size(self):
        whole = ctypes.sizeof(self.kernel.Args)
        self.args.size = new = self.pick([0, 1, 8, whole - 1, whole - 8, whole + 1, whole + 64, 2**63, 2**64 - 1])
        self.note(f"size is {new} instead of {whole}")
        return "right" if new >= whole else "wrong"

    def zero_stride(self):
        i = self.port(outputs=True)
        wide = [j for j, size in enumerate(self.views[i].shape) if size > 1]
        if not wide or not self.views[i].size:
            return "right"
        j = self.pick(wide)
        self.args.ports[i].strides[j] = 0
        self.note(f"stride {j} of port {i} is 0")
        return "wrong"

    def overlap(self):
        """A result over an argument, or over another result: undefined values, but nothing else."""
        i, j = self.port(outputs=True), self.port()
        floats = [k for k in (i, j) if self.kernel.ports[k].element in ("f16", "bf16", "f32", "f64")]
        if i == j or len(floats) < 2 or not self.views[i].size or not self.views[j].size:
            return "right"
        low, high = np.lib.array_utils.byte_bounds(self.views[j])
        start = low - self.arena.start + int(self.pick([0, 0, 64, -64]))
        last = int(np.prod(self.views[i].shape)) * self.views[i].itemsize
        start = max(0, min(start, ARENA - last))
        start -= start % 8
        self.views[i] = np.frombuffer(self.arena.map, self.views[i].dtype, last // self.views[i].itemsize, PAGE + start).reshape(self.views[i].shape)
        self.args.ports[i] = Tensor.of(self.views[i])
        self.may_change[start:start + last] = True
        self.note(f"port {i} lies over port {j}")
        return "any"

    def threads(self):
        self.args.threads = new = self.pick([0, -1, -2**31, 1, 2, 3, 7, 64, 1000, 10**6, 2**31 - 1])
        self.note(f"threads is {new}")
        return "right"

    def workspace(self, size, misaligned, short):
        offset = self.arena.take(max(size - short, 0) + 64, False, 128) + misaligned
        self.args.workspace = self.arena.start + offset
        self.args.workspace_size = max(size - short, 0)
        self.may_change[offset:offset + max(size - short, 0)] = True

    def own_workspace(self):
        size = self.kernel.workspace_size(ctypes.byref(self.args))
        if not 0 <= size < ARENA // 4:
            return "right"
        by = int(self.pick([0, 0, 1, 8, 33]))
        self.workspace(size, by, 0)
        self.note(f"a work space of {size} bytes, {by} bytes off")
        return "right"

    def bad_workspace(self):
        size = self.kernel.workspace_size(ctypes.byref(self.args))
        if not 0 < size < ARENA // 4:
            return "right"
        short = int(self.pick([1, 64, size]))
        self.workspace(size, 0, min(short, size))
        self.note(f"a work space {short} bytes too small")
        return "wrong"

    def null_args(self):
        if self.rng.random() < 0.8:
            return "right"
        self.no_args = True
        self.note("args is null")
        return "wrong"

    def pool(self):
        name = self.pick(sorted(hooks.POOLS))
        self.hook = hooks.POOLS[name](self)
        self.args.parallel_for = ctypes.cast(self.hook, ctypes.c_void_p).value
        self.note(f"pool: {name}")
        return "right"

    def together(self):
        """The same call from another thread at the same time, into results of its own."""
        self.others = int(self.pick([1, 2]))
        self.note("called from several threads at once")
        return "right"

    # --- verdict ---

    def enter(self):
        if getattr(self, "no_args", False):
            del self.no_args
            self.kernel.workspace_size(None)
            return self.kernel.run(None)
        others = hooks.start(self.plain, getattr(self, "others", 0))
        self.others = 0
        status = self.kernel.run(ctypes.byref(self.args))
        hooks.join(others)
        return status

    def compare(self, expected, want):
        before = self.arena.bytes.copy()
        hooks.wrong.clear()
        status = self.enter()
        text = self.kernel.strerror(status)
        self.kernel.strerror(int(self.pick([1, -1000, 2**31 - 1, -2**31])))
        changed = (self.arena.bytes != before) & ~(self.may_change if status == 0 else np.zeros(1, bool))
        if changed.any():
            return f"{'writes outside of its results' if status == 0 else 'a refused call writes'}, first at byte {int(np.argmax(changed))}"
        if not text:
            return "a status without a text"
        if hooks.wrong:
            return hooks.wrong[0]
        if expected == "any":
            return None
        if (status == 0) != (expected == "right"):
            return f"a {expected} call gives status {status}: {text.decode()}"
        if status == 0:
            for i, (view, array) in enumerate(zip(self.views[self.kernel.inputs:], want)):
                if np.ascontiguousarray(view).tobytes() != np.ascontiguousarray(array).tobytes():
                    if not np.array_equal(elements.numbers(view), elements.numbers(array), equal_nan=True):
                        return f"result {i} has other bits than in a plain call"
        return None
