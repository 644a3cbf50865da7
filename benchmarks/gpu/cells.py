# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels and shapes: those whose results are compared with float64, and those that are timed."""
from typing import NamedTuple


class Kernel(NamedTuple):
    dim: int = 64
    value_dim: int = 0  # 0: dim
    dtype: str = "bf16"
    heads: int = 2
    key_heads: int = 2
    mask: str = ""
    layout: str = "bhsd"
    lse: bool = False
    queries: int = 0  # 0: of run time
    score: str = ""  # softcap or alibi
    schedule: tuple = ()  # queries, keys and warps of a block in place of the table's, and keys of a part of kind decode
    lengths: tuple = ((128, 64), (1, 1), (130, 67), (257, 200))  # queries, keys

    def text(self, name):
        """The specification: batch and lengths are sizes of run time."""
        value_dim = self.value_dim or self.dim

        def tensor(heads, dim, length="?"):
            return f"tensor<?x{heads}x{length}x{dim}x{self.dtype}>" if self.layout == "bhsd" else f"tensor<?x{length}x{heads}x{dim}x{self.dtype}>"

        length = self.queries or "?"
        q, out = tensor(self.heads, self.dim, length), tensor(self.heads, value_dim, length)
        k, v = tensor(self.key_heads, self.dim), tensor(self.key_heads, value_dim)
        types, results, names = out, "%out", "out"
        if self.lse:
            types, results, names = f"({out}, tensor<?x{self.heads}x{length}xf32>)", "%out, %lse", "out, lse"
        attributes = [f"{port}_layout = #attn<layout {self.layout}>" for port in ("query", "key", "value", "out") if self.layout != "bhsd"]
        if self.schedule:
            sizes = "query_tile = {}, key_tile = {}, warps = {}".format(*self.schedule)
            decodes = ", kind = decode, split_keys = {}".format(*self.schedule[3:]) if self.queries else ""
            attributes.append(f"{'decode_' if decodes else ''}schedule = #attn.gpu_schedule<{sizes}{decodes}>")
        written = f"{{{', '.join(attributes)}}} " if attributes else ""
        where = f"where {self.mask} " if self.mask else ""
        returning = f"returning({names}) " if self.lse else ""
        returned = types.strip("()")
        return f"""func.func @{name}(%q: {q}, %k: {k}, %v: {v}) -> {types} {{
  {results} = attn.sdpa %q, %k, %v scale {self.dim ** -0.5:.17e} {SCORES[self.score]}{where}{returning}{written}: ({q}, {k}, {v}) -> {types}
  return {results} : {returned}
}}
"""

    def shapes(self, batch, queries, keys):
        """Of q, k, v and the results."""
        def shape(heads, length, dim):
            return (batch, heads, length, dim) if self.layout == "bhsd" else (batch, length, heads, dim)

        value_dim = self.value_dim or self.dim
        inputs = [shape(self.heads, queries, self.dim), shape(self.key_heads, keys, self.dim), shape(self.key_heads, keys, value_dim)]
        return inputs, [shape(self.heads, queries, value_dim), *([(batch, self.heads, queries)] if self.lse else [])]


SCORES = {"": "", "softcap": """score_mod (%s: f32, %b, %h, %i, %j) {
    %cap = arith.constant 30.0 : f32
    %x = arith.divf %s, %cap : f32
    %t = math.tanh %x : f32
    %y = arith.mulf %t, %cap : f32
    attn.yield %y : f32
  } """, "alibi": """score_mod (%s: f32, %b, %h, %i, %j) {
    %d = arith.subi %j, %i : index
    %n = arith.index_cast %d : index to i32
    %r = arith.sitofp %n : i32 to f32
    %c = arith.constant 0.0625 : f32
    %f = arith.mulf %r, %c : f32
    %y = arith.addf %s, %f : f32
    attn.yield %y : f32
  } """}

CORRECT = {
    "full64": Kernel(),
    "full64_f16": Kernel(dtype="f16", lse=True, lengths=((128, 64), (127, 129), (64, 1))),
    "causal64": Kernel(mask="causal(top_left)", lengths=((128, 128), (200, 333), (333, 200))),
    "full128": Kernel(dim=128, lengths=((128, 64), (1, 300), (129, 190))),
    "causal128": Kernel(dim=128, mask="causal(top_left)", lse=True, lengths=((128, 128), (130, 257), (300, 300))),
    "bottom128": Kernel(dim=128, dtype="f16", mask="causal(bottom_right)", lengths=((70, 200), (128, 128), (200, 70))),
    "groups": Kernel(dtype="f16", heads=4, key_heads=2, mask="causal(bottom_right)", lse=True, lengths=((70, 65), (129, 300))),
    "shared": Kernel(dim=128, heads=4, key_heads=1, lengths=((65, 65), (128, 33))),
    "full32": Kernel(dim=32, lengths=((128, 64), (33, 70))),
    "odd40": Kernel(dim=40, lengths=((128, 64), (33, 70))),
    "odd72": Kernel(dim=72, dtype="f16", lengths=((128, 64), (33, 170))),
    "full96": Kernel(dim=96, dtype="f16", lengths=((128, 96), (200, 130))),
    "causal256": Kernel(dim=256, mask="causal(top_left)", lengths=((130, 130), (64, 200))),
    "wide192": Kernel(dim=192, value_dim=128, dtype="f16", lengths=((40, 80), (128, 200))),
    "bshd": Kernel(layout="bshd", mask="window(left = 20, right = 0)", lengths=((66, 70), (200, 200))),
    "sinks": Kernel(mask="causal(top_left) and (sink(4) or window(left = 100, right = 0))", lengths=((500, 500), (128, 600))),
    "chunks": Kernel(mask="causal(top_left) and (sink(64) or chunked(256))", lengths=((600, 600), (300, 500))),
    "prefix": Kernel(mask="window(left = 200, right = 100)", dtype="f16", lengths=((300, 400), (1, 64))),
}
assert sum(len(kernel.lengths) for kernel in CORRECT.values()) >= 40

FULL128, CAUSAL128 = Kernel(dim=128, heads=16, key_heads=16), Kernel(dim=128, heads=16, key_heads=16, mask="causal(top_left)")
DECODE = Kernel(dim=128, heads=32, key_heads=8, queries=1)

# Batch and length of what is timed; the kernel is compared as well, with PyTorch's results.
TIMED = {
    "t_full128": (FULL128, ((4, 2048), (1, 8192), (1, 16384))),
    "t_causal128": (CAUSAL128, ((4, 2048), (1, 8192), (1, 16384))),
    "t_full64": (Kernel(heads=32, key_heads=32), ((4, 2048), (1, 8192))),
    "t_causal64": (Kernel(heads=32, key_heads=32, mask="causal(top_left)"), ((4, 2048), (1, 8192))),
    "t_decode128": (DECODE, ((16, 8192), (1, 8192), (1, 131072))),
    "t_decode64_all_heads": (Kernel(heads=32, key_heads=32, queries=1), ((16, 4096),)),
    "t_decode128_few": (DECODE._replace(queries=4, mask="causal(bottom_right)"), ((16, 8192),)),
    "t_softcap128": (CAUSAL128._replace(score="softcap"), ((1, 8192),)),
    "t_alibi128": (CAUSAL128._replace(score="alibi"), ((1, 8192),)),
    "t_window128": (Kernel(dim=128, heads=16, key_heads=16, mask="window(left = 1023, right = 0)"), ((1, 16384),)),
    "t_groups128": (Kernel(dim=128, heads=32, key_heads=8, mask="causal(top_left)"), ((1, 8192),)),
    "t_causal256": (Kernel(dim=256, heads=8, key_heads=8, mask="causal(top_left)"), ((2, 4096),)),
    "t_full128_f32": (FULL128._replace(dtype="f32"), ((1, 4096),)),
}

# Other schedules of the kernels above, timed alone: what the table could say.
SCHEDULES = {
    "t_full64": ((128, 64, 4), (128, 80, 4)),
    "t_causal64": ((128, 64, 4), (128, 80, 4)),
    "t_full128": ((128, 32, 4), (128, 64, 4)),
    "t_causal128": ((128, 32, 4), (128, 64, 4)),
    "t_alibi128": ((128, 32, 4), (128, 64, 4)),
    "t_softcap128": ((128, 32, 4), (128, 64, 4)),
    "t_causal256": ((64, 48, 4), (128, 64, 8)),
    "t_full128_f32": ((64, 64, 4), (128, 32, 8), (64, 32, 4)),
    "t_decode128": ((16, 128, 1, 512), (16, 32, 1, 512), (16, 128, 1, 1024), (16, 64, 1, 1024)),
    "t_decode64_all_heads": ((16, 64, 1, 512), (16, 256, 1, 512), (16, 128, 1, 1024)),
}
