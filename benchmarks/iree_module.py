# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The linalg module of a cell that the peer `iree` compiles."""


def body(cell):
    """Scale and mask of one score; a grouped head's queries are rows of one matrix."""
    lines = ["%x0 = arith.mulf %a, %scale : f32"]
    conditions = []
    if cell.causal:
        lines += [
            "%m = linalg.index 1 : index", "%j = linalg.index 2 : index",
            f"%cs = arith.constant {cell.Sq} : index", f"%ahead = arith.constant {cell.Sk - cell.Sq} : index",
            "%i = arith.remui %m, %cs : index", "%p = arith.addi %i, %ahead : index",
            "%seen0 = arith.cmpi ule, %j, %p : index"]
        conditions.append("%seen0")
    if cell.key_lengths:
        lines += [
            "%b = linalg.index 0 : index", "%jj = linalg.index 2 : index", f"%heads = arith.constant {cell.Hkv} : index",
            "%batch = arith.divui %b, %heads : index",
            f"%n = tensor.extract %lengths[%batch] : tensor<{cell.B}xi32>", "%j32 = arith.index_cast %jj : index to i32",
            "%seen1 = arith.cmpi slt, %j32, %n : i32"]
        conditions.append("%seen1")
    for i, condition in enumerate(conditions):
        lines.append(f"%x{i + 1} = arith.select {condition}, %x{i}, %excluded : f32")
    return "\n    ".join([*lines, f"linalg.yield %x{len(conditions)} : f32"])


def text(cell):
    group, count, element = cell.Hq // cell.Hkv, cell.B * cell.Hkv, cell.dtype
    rows = group * cell.Sq
    q, kv = f"tensor<{count}x{rows}x{cell.D}x{element}>", f"tensor<{count}x{cell.Sk}x{cell.D}x{element}>"
    s, o = f"tensor<{count}x{rows}x{cell.Sk}xf32>", f"tensor<{count}x{rows}x{cell.D}xf32>"
    p, weights, narrow = s, "%w", ""
    if element != "f32":
        p, weights = f"tensor<{count}x{rows}x{cell.Sk}x{element}>", "%wn"
        narrow = f"""%en = tensor.empty() : {p}
  %wn = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}}
    ins(%w : {s}) outs(%en : {p}) {{
  ^bb0(%a: f32, %unused: {element}):
    %c = arith.truncf %a : f32 to {element}
    linalg.yield %c : {element}
  }} -> {p}"""
    lengths = f", %lengths: tensor<{cell.B}xi32>" if cell.key_lengths else ""
    return f"""
#id = affine_map<(b,m,n) -> (b,m,n)>
func.func @main(%q: {q}, %k: {kv}, %v: {kv}{lengths}) -> {o} {{
  %zero = arith.constant 0.0 : f32
  %excluded = arith.constant -3.0e38 : f32
  %scale = arith.constant {cell.scale:.9e} : f32
  %e = tensor.empty() : {s}
  %s0 = linalg.fill ins(%zero : f32) outs(%e : {s}) -> {s}
  %s = linalg.batch_matmul
    indexing_maps = [affine_map<(b,m,n,k) -> (b,m,k)>, affine_map<(b,m,n,k) -> (b,n,k)>, affine_map<(b,m,n,k) -> (b,m,n)>]
    ins(%q, %k : {q}, {kv}) outs(%s0 : {s}) -> {s}
  %x = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}}
    ins(%s : {s}) outs(%e : {s}) {{
  ^bb0(%a: f32, %unused: f32):
    {body(cell)}
  }} -> {s}
  %w = linalg.softmax dimension(2) ins(%x : {s}) outs(%e : {s}) -> {s}
  {narrow}
  %eo = tensor.empty() : {o}
  %o0 = linalg.fill ins(%zero : f32) outs(%eo : {o}) -> {o}
  %r = linalg.batch_matmul ins({weights}, %v : {p}, {kv}) outs(%o0 : {o}) -> {o}
  return %r : {o}
}}
"""
