# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Other implementations of attention, each by its best route on a processor.

A class has `name`, `packages` (from PyPI), and `make(cell, arrays)`, which gives what is timed, what turns its result into
an array (B, Hq, Sq, D), and the route in a few words; `unsupported(cell)` says why not. Inputs are brought into the layout
that a library prefers, and masks are built, before the timing.
"""
from concurrent.futures import ThreadPoolExecutor
import ctypes
import ctypes.util

import cells
import iree_module
import numpy as np


def halves_and_single(cell):
    return None if cell.dtype != "f64" else "no f64"


class Torch:
    packages = ("torch",)

    def __init__(self, threads):
        import torch
        self.torch = torch
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)

    def tensor(self, a):
        if a.dtype.name == "bfloat16":
            return self.torch.from_numpy(a.view(np.int16)).view(self.torch.bfloat16)
        return self.torch.from_numpy(a)

    def array(self, tensor):
        return (tensor if tensor.dtype == self.torch.float64 else tensor.float()).numpy()

    def inference(self, function):
        def run():
            with self.torch.inference_mode():
                return function()
        return run


class TorchSDPA(Torch):
    name = "torch-sdpa"

    def make(self, cell, arrays):
        q, k, v = map(self.tensor, arrays)
        mask, causal = None, cell.causal and cell.Sq == cell.Sk and not cell.key_lengths
        if not causal and (dense := cells.mask(cell)) is not None:
            mask = self.torch.from_numpy(dense)
        sdpa = self.torch.nn.functional.scaled_dot_product_attention
        run = self.inference(lambda: sdpa(q, k, v, attn_mask=mask, is_causal=causal, enable_gqa=cell.Hq != cell.Hkv))
        return run, self.array, "is_causal" if causal else "no mask" if mask is None else "dense mask"


class TorchFlex(Torch):
    name = "torch-flex"

    def make(self, cell, arrays):
        from torch.nn.attention import flex_attention as flex
        torch = self.torch
        torch._dynamo.reset()
        q, k, v = map(self.tensor, arrays)
        ends = torch.tensor(cell.key_lengths or (cell.Sk,) * cell.B)
        ahead = cell.Sk - cell.Sq

        def sees(b, h, i, j):
            seen = j < ends[b]
            return seen & (i + ahead >= j) if cell.causal else seen

        block = None
        if cell.causal or cell.key_lengths:
            block = flex.create_block_mask(sees, cell.B, None, cell.Sq, cell.Sk, device="cpu")
        compiled = torch.compile(flex.flex_attention, fullgraph=True, dynamic=False)
        run = self.inference(lambda: compiled(q, k, v, block_mask=block, enable_gqa=cell.Hq != cell.Hkv))
        return run, self.array, "compiled" + (", block mask" if block is not None else "")


class TorchEager(Torch):
    name = "torch-eager"

    def make(self, cell, arrays):
        torch, group = self.torch, cell.Hq // cell.Hkv
        q, k, v = map(self.tensor, arrays)
        q = (q * cell.scale).reshape(cell.B, cell.Hkv, group, cell.Sq, cell.D)
        k, v = k.unsqueeze(2).transpose(-1, -2), v.unsqueeze(2)
        if cell.decode:  # the queries of a group are the rows of one matrix
            q, k, v = q[:, :, :, 0], k[:, :, 0], v[:, :, 0]
        dense, mask = cells.mask(cell), None
        if dense is not None:
            mask = torch.where(torch.from_numpy(dense), 0.0, -np.inf).to(q.dtype).unsqueeze(1)
        shape = (cell.B, cell.Hq, cell.Sq, cell.D)

        def run():
            scores = torch.matmul(q, k)
            if mask is not None:
                scores += mask
            return torch.matmul(torch.softmax(scores, -1), v).reshape(shape)
        return self.inference(run), self.array, "matmul, softmax, matmul"


class OnnxRuntime:
    packages = ("onnxruntime", "onnx")
    unsupported = staticmethod(halves_and_single)

    def __init__(self, threads):
        import onnx
        import onnxruntime
        self.onnx, self.runtime, self.threads = onnx, onnxruntime, threads

    def type_of(self, a):
        types = self.onnx.TensorProto
        return {"bool": types.BOOL, "int32": types.INT32, "float32": types.FLOAT, "float16": types.FLOAT16,
                "bfloat16": types.BFLOAT16}[a.dtype.name]

    def value(self, a):
        make, a = self.runtime.OrtValue, np.ascontiguousarray(a)
        if a.dtype.name == "bfloat16":
            return make.ortvalue_from_numpy_with_onnx_type(a.view(np.uint16), self.type_of(a))
        return make.ortvalue_from_numpy(a)

    def bind(self, node, feeds, results, opset):
        """A call of one node on bound inputs and outputs, name -> array; one array given twice is one buffer."""
        helper = self.onnx.helper

        def info(arrays):
            return [helper.make_tensor_value_info(n, self.type_of(a), a.shape) for n, a in arrays.items()]

        imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(helper.make_graph([node], "cell", info(feeds), info(results)), opset_imports=imports)
        model.ir_version = 10
        options = self.runtime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = self.threads
        # Its threads would spin while others are timed.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        session = self.runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        values = {id(a): self.value(a) for a in (*feeds.values(), *results.values())}
        binding = session.io_binding()
        for name, a in feeds.items():
            binding.bind_ortvalue_input(name, values[id(a)])
        for name, a in results.items():
            binding.bind_ortvalue_output(name, values[id(a)])
        out = values[id(results["out"])]
        # The binding does not own the values that it points to.
        return (lambda kept=values: session.run_with_iobinding(binding)), (lambda _: out.numpy().astype(np.float32))


class OnnxAttention(OnnxRuntime):
    name = "onnxruntime"

    def make(self, cell, arrays):
        feeds, attributes = dict(zip("qkv", arrays)), {}
        if cell.causal and cell.Sq == cell.Sk and not cell.key_lengths:
            attributes["is_causal"] = 1
        elif (dense := cells.mask(cell)) is not None:
            feeds["mask"] = dense
        node = self.onnx.helper.make_node("Attention", list(feeds), ["out"], **attributes)
        run, finish = self.bind(node, feeds, {"out": np.zeros_like(arrays[0])}, 23)
        return run, finish, "Attention-23, " + ("is_causal" if attributes else "dense mask" if "mask" in feeds else "no mask")


class OnnxContrib(OnnxRuntime):
    """MultiHeadAttention without a mask or with padding, GroupQueryAttention for the rest."""
    name = "onnxruntime-contrib"

    def unsupported(self, cell):
        if cell.dtype in ("f64", "bf16"):
            return "no " + cell.dtype
        return "no causal chunk" if cell.causal and cell.Sq != cell.Sk else None

    def make(self, cell, arrays):
        q, k, v = arrays
        node, feeds, results, how = (self.grouped if cell.causal or cell.Hq != cell.Hkv else self.plain)(cell, q, k, v)
        run, finish = self.bind(node, feeds, results, 21)
        shape = (cell.B, cell.Sq, cell.Hq, cell.D)
        return run, lambda r: finish(r).reshape(shape).transpose(0, 2, 1, 3), how

    @staticmethod
    def packed(a):
        return np.ascontiguousarray(a.transpose(0, 2, 1, 3)).reshape(a.shape[0], a.shape[2], -1)

    def plain(self, cell, q, k, v):
        feeds = {"q": self.packed(q), "k": self.packed(k), "v": self.packed(v)}
        names = list(feeds)
        if cell.key_lengths:
            feeds["padding"] = cells.mask(cell)[:, 0, 0].astype(np.int32)
            names += ["", "padding"]
        node = self.onnx.helper.make_node("MultiHeadAttention", names, ["out"], domain="com.microsoft", num_heads=cell.Hq)
        return node, feeds, {"out": np.zeros_like(feeds["q"])}, "MultiHeadAttention"

    def grouped(self, cell, q, k, v):
        """It appends to a cache: for decoding all keys but the last are there, and old and new cache are one buffer."""
        old = cell.Sk - cell.Sq
        feeds = {"q": self.packed(q), "k": self.packed(k[:, :, old:]), "v": self.packed(v[:, :, old:]),
                 "last": np.full(cell.B, cell.Sk - 1, np.int32), "total": np.array([cell.Sk], np.int32)}
        caches = {"keys": np.zeros_like(k), "values": np.zeros_like(v)}
        names = ["q", "k", "v", "", "", "last", "total"]
        if old:
            caches["keys"][:, :, :old], caches["values"][:, :, :old] = k[:, :, :old], v[:, :, :old]
            feeds |= {"old_" + n: a for n, a in caches.items()}
            names[3:5] = ["old_keys", "old_values"]
        node = self.onnx.helper.make_node("GroupQueryAttention", names, ["out", *caches], domain="com.microsoft",
                                          num_heads=cell.Hq, kv_num_heads=cell.Hkv)
        return node, feeds, {"out": np.zeros_like(feeds["q"]), **caches}, "GroupQueryAttention"


class OpenVINO:
    name = "openvino"
    packages = ("openvino",)
    unsupported = staticmethod(halves_and_single)

    def __init__(self, threads):
        import openvino
        self.openvino, self.core, self.threads = openvino, openvino.Core(), threads

    def make(self, cell, arrays):
        import openvino.opset13 as ops
        ov, group = self.openvino, cell.Hq // cell.Hkv
        q, k, v = arrays
        if group > 1 and cell.decode:  # the queries of a group become rows
            q = q.reshape(cell.B, cell.Hkv, group, cell.D)
        elif group > 1:
            q = q.reshape(cell.B, cell.Hkv, group, cell.Sq, cell.D)
            k, v = k[:, :, None], v[:, :, None]
        feeds, causal = [q, k, v], cell.causal and cell.Sq == cell.Sk and not cell.key_lengths
        if not causal and (dense := cells.mask(cell)) is not None:
            feeds.append(dense)
        floats = {"f32": ov.Type.f32, "bf16": ov.Type.bf16, "f16": ov.Type.f16}[cell.dtype]
        parameters = [ops.parameter(list(a.shape), ov.Type.boolean if a.dtype == bool else floats) for a in feeds]
        node = ops.scaled_dot_product_attention(*parameters, causal=causal)
        settings = {"INFERENCE_NUM_THREADS": self.threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
        request = self.core.compile_model(ov.Model([node], parameters), "CPU", settings).create_infer_request()
        arrays = [np.ascontiguousarray(a) for a in feeds]
        for i, a in enumerate(arrays):
            if a.dtype.name == "bfloat16":
                request.set_input_tensor(i, ov.Tensor(a.view(np.uint16), list(a.shape), ov.Type.bf16))
            else:
                request.set_input_tensor(i, ov.Tensor(a, shared_memory=True))

        def finish(_):
            out = request.get_output_tensor(0).data
            out = out.view(cells.numpy_type("bf16")) if cell.dtype == "bf16" else out
            return out.astype(np.float32).reshape(cell.B, cell.Hq, cell.Sq, cell.D)
        # The request shares the memory of the arrays and does not own it.
        return (lambda kept=arrays: request.infer()), finish, "ScaledDotProductAttention-13, static shapes"


class Iree:
    """The composition in linalg: iree_linalg_ext.attention is several times slower on processors."""
    name = "iree"
    packages = ("iree-base-compiler", "iree-base-runtime")
    unsupported = staticmethod(halves_and_single)
    flags = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
             "--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3", "--iree-llvmcpu-enable-ukernels=all"]

    def __init__(self, threads):
        import iree.compiler
        import iree.runtime
        self.compiler, self.runtime = iree.compiler, iree.runtime
        self.config = iree.runtime.Config("local-sync" if threads == 1 else "local-task")

    def make(self, cell, arrays):
        blob = self.compiler.compile_str(iree_module.text(cell), extra_args=self.flags)
        context = self.runtime.SystemContext(config=self.config)
        context.add_vm_module(self.runtime.VmModule.copy_buffer(context.instance, blob))
        function, count = context.modules.module["main"], cell.B * cell.Hkv
        feeds = [np.ascontiguousarray(a).reshape(count, -1, cell.D) for a in arrays]
        feeds += [np.array(cell.key_lengths, np.int32)] if cell.key_lengths else []
        feeds = [self.runtime.asdevicearray(self.config.device, a) for a in feeds]
        shape = (cell.B, cell.Hq, cell.Sq, cell.D)
        return (lambda: function(*feeds)), (lambda r: np.array(r.to_host()).reshape(shape)), "linalg, micro-kernels"


class NumPy:
    """Blocks of queries of one head: GEMM, softmax by NumPy, GEMM; keys that no query of the block sees are left out."""
    name = "numpy"
    packages = ("numpy",)
    rows = 256

    def __init__(self, threads):
        self.pool = ThreadPoolExecutor(threads)

    def unsupported(self, cell):
        return None if cell.dtype == "f32" else "f32 only"

    def gemm(self, a, b):
        return a @ b

    def block(self, q, k, v, out, limits):
        end = int(limits.max())
        scores = self.gemm(q, k[:end].T)
        if limits.min() < end:
            scores[np.arange(end) >= limits[:, None]] = -np.inf
        scores -= scores.max(-1, keepdims=True)
        np.exp(scores, out=scores)
        np.divide(self.gemm(scores, v[:end]), scores.sum(-1, keepdims=True), out=out)

    def make(self, cell, arrays):
        q, k, v = map(np.ascontiguousarray, arrays)
        q, out, group = q * np.float32(cell.scale), np.empty(q.shape, np.float32), cell.Hq // cell.Hkv
        jobs = []
        for b in range(cell.B):
            limits = cell.limits(b)
            for h in range(cell.Hkv if cell.decode else cell.Hq):
                heads = slice(h * group, h * group + group)
                if cell.decode:  # the queries of a group are the rows of one matrix
                    jobs.append((q[b, heads, 0], k[b, h], v[b, h], out[b, heads, 0], np.repeat(limits, group)))
                    continue
                for i in range(0, cell.Sq, self.rows):
                    part = slice(i, i + self.rows)
                    jobs.append((q[b, h, part], k[b, h // group], v[b, h // group], out[b, h, part], limits[part]))

        def run():
            list(self.pool.map(lambda job: self.block(*job), reversed(jobs)))
            return out
        return run, lambda result: result, f"blocks of {self.rows} queries"


class OneDNN(NumPy):
    """The same with the GEMM of the system's libdnnl."""
    name = "onednn"

    def __init__(self, threads):
        super().__init__(threads)
        library = ctypes.CDLL(ctypes.util.find_library("dnnl") or "libdnnl.so")
        library.dnnl_version.restype = ctypes.POINTER(ctypes.c_int * 3)
        self.own_versions = {"oneDNN": ".".join(map(str, library.dnnl_version().contents))}
        self.sgemm = library.dnnl_sgemm
        size, real, pointer = ctypes.c_int64, ctypes.c_float, ctypes.c_void_p
        self.sgemm.argtypes = [ctypes.c_char, ctypes.c_char, size, size, size, real, pointer, size, pointer, size, real,
                               pointer, size]

    def gemm(self, a, b):
        transposed = b.strides[0] < b.strides[1]
        c = np.empty((a.shape[0], b.shape[1]), np.float32)
        leading = (a.strides[0] // 4, (b.strides[1] if transposed else b.strides[0]) // 4)
        status = self.sgemm(b"N", b"T" if transposed else b"N", *c.shape, a.shape[1], 1.0, a.ctypes.data, leading[0],
                            b.ctypes.data, leading[1], 0.0, c.ctypes.data, c.shape[1])
        if status:
            raise RuntimeError(f"dnnl_sgemm: status {status}")
        return c


PEERS = {peer.name: peer for peer in (TorchSDPA, TorchFlex, TorchEager, OnnxAttention, OnnxContrib, OpenVINO, Iree, NumPy,
                                      OneDNN)}
