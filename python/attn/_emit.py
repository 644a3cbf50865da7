# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes traced values as text: the region of a score function, and the program
of a mask's predicate (docs/Spec.md, `attn.score_mod` and `predicate`)."""
import math
import struct

from ._trace import Scalar

_INT = {"eq": 0, "ne": 1, "lt": 2, "le": 3}
_FLOAT = {"eq": 1, "lt": 4, "le": 5, "ne": 13}
_INT_NAMES = {"eq": "eq", "ne": "ne", "lt": "slt", "le": "sle"}
_FLOAT_NAMES = {"eq": "oeq", "lt": "olt", "le": "ole", "ne": "une"}


def float_text(value, kind):
    """A number of a type's width as MLIR reads it."""
    if math.isfinite(value):
        mantissa, _, exponent = repr(float(value)).partition("e")
        mantissa += "" if "." in mantissa else ".0"
        return f"{mantissa}e{int(exponent):+03d}" if exponent else mantissa
    code, digits = {"f16": ("e", 4), "bf16": ("f", 4), "f32": ("f", 8), "f64": ("d", 16)}[kind]
    return f"0x{struct.pack('>' + code, value).hex().upper()[:digits]}"


def _range(x):
    """The least and the greatest an index can be; lengths are below 2^31."""
    limit = 2**31 - 1
    if x.op == "constant":
        return x.detail, x.detail
    if x.op == "input":
        return 0, limit
    if x.op == "arith.extui":
        return 0, 1
    if x.op == "element":
        return (-limit - 1, limit) if x.detail.dtype == "i32" else (-(2**63), 2**63)
    inner = [_range(o) for o in x.operands if o.kind == "index"]
    if x.op == "arith.select":
        return min(r[0] for r in inner), max(r[1] for r in inner)
    (a, b), (c, d) = inner if len(inner) == 2 else ((-(2**63), 2**63),) * 2
    if x.op == "arith.addi":
        return a + c, b + d
    if x.op == "arith.subi":
        return a - d, b - c
    if x.op in ("arith.minsi", "arith.maxsi"):
        pick = min if x.op == "arith.minsi" else max
        return pick(a, c), pick(b, d)
    corners = (a * c, a * d, b * c, b * d) if x.op == "arith.muli" else (a, b, -a, -b)
    return min(corners), max(corners)


class _Op:
    """One op of the text: name, operands by number, attributes, result type."""

    def __init__(self, name, operands, type, operand_type=None, attributes="", pretty=""):
        self.name, self.operands, self.type = name, operands, type
        self.operand_type = operand_type or type
        self.attributes, self.pretty = attributes, pretty


class Writer:
    """Numbers the values that a result needs, each once, in the order of use."""

    def __init__(self, inputs, float_type):
        self.float = float_type
        self.numbers = {x.key: i for i, x in enumerate(inputs)}
        self.first = len(inputs)
        self.ops = []
        self.captured = []

    def type_of(self, x):
        return {"index": "index", "float": self.float, "bool": "i1"}[x.kind]

    def find_captures(self, x, seen=None):
        """Captured tensors are numbered behind the inputs, before any op."""
        seen = set() if seen is None else seen
        if x.key in seen:
            return
        seen.add(x.key)
        for operand in x.operands:
            self.find_captures(operand, seen)
        if x.op == "element" and all(c is not x.detail for c in self.captured):
            self.captured.append(x.detail)

    def _add(self, *op, **more):
        self.ops.append(_Op(*op, **more))
        return self.first + len(self.captured) + len(self.ops) - 1

    def write(self, x):
        """The number of `x`."""
        stack = [x]
        while stack:  # not recursive: a long function has deep graphs
            top = stack[-1]
            missing = [o for o in top.operands if o.key not in self.numbers]
            if top.key in self.numbers or not missing:
                stack.pop()
                if top.key not in self.numbers:
                    self.numbers[top.key] = self._write_one(top)
            else:
                stack.extend(reversed(missing))
        return self.numbers[x.key]

    def _write_one(self, x):
        operands = [self.numbers[o.key] for o in x.operands]
        type = self.type_of(x)
        if x.op == "constant":
            text = float_text(x.detail, self.float) if x.kind == "float" else str(x.detail).lower()
            return self._add("arith.constant", [], type, attributes=f"value = {text}" + ("" if x.kind == "bool" else f" : {type}"),
                             pretty=f"{text}" + ("" if x.kind == "bool" else f" : {type}"))
        if x.op == "element":
            return self._write_element(x, operands)
        if x.op in ("arith.sitofp", "arith.extui", "arith.uitofp"):
            return self._write_cast(x, operands)
        if x.op in ("arith.cmpi", "arith.cmpf"):
            is_float = x.op == "arith.cmpf"
            number = (_FLOAT if is_float else _INT)[x.detail]
            name = (_FLOAT_NAMES if is_float else _INT_NAMES)[x.detail]
            return self._add(x.op, operands, "i1", self.type_of(x.operands[0]), f"predicate = {number} : i64", name)
        return self._add(x.op, operands, type)

    def _write_element(self, x, operands):
        tensor = self.first + next(i for i, c in enumerate(self.captured) if c is x.detail)
        element = x.detail.dtype
        at = self._add("tensor.extract", [tensor, *operands], element, x.detail.type)
        if x.kind == "index":
            return self._add("arith.index_cast", [at], "index", element)
        if x.kind == "float" and element != self.float:
            wider = {"f16": 0, "bf16": 0, "f32": 1, "f64": 2}
            return self._add("arith.extf" if wider[element] < wider[self.float] else "arith.truncf", [at], self.float, element)
        return at

    def _write_cast(self, x, operands):
        (inner,) = x.operands
        if x.op == "arith.uitofp":
            return self._add(x.op, operands, self.float, "i1")
        if x.op == "arith.extui":
            at = self._add("arith.extui", operands, "i32", "i1")
            return self._add("arith.index_cast", [at], "index", "i32")
        low, high = _range(inner)
        integer = "i32" if -(2**31) <= low and high < 2**31 else "i64"
        at = self._add("arith.index_cast", operands, integer, "index")
        return self._add("arith.sitofp", [at], self.float, integer)

    # Texts.
    def region(self, names, captured_names):
        """Lines of ops; values are named %0, %1, .. behind `names`."""
        value = list(names) + list(captured_names) + [f"%{i}" for i in range(len(self.ops))]
        begin = self.first + len(self.captured)
        for i, op in enumerate(self.ops):
            operands = [value[o] for o in op.operands]
            yield f"{value[begin + i]} = {_pretty(op, operands)}"

    def program(self):
        """`#attn.program<..>`; its last value is the answer."""
        inputs = f"inputs = [{', '.join(c.type for c in self.captured)}], " if self.captured else ""
        steps = ", ".join(f'<"{op.name}", [{", ".join(map(str, op.operands))}], {{{op.attributes}}}, {op.type}>' for op in self.ops)
        return f"#attn.program<{inputs}{steps}>"


def _pretty(op, operands):
    if op.name == "arith.constant":
        return f"arith.constant {op.pretty}"
    if op.name == "tensor.extract":
        return f"tensor.extract {operands[0]}[{', '.join(operands[1:])}] : {op.operand_type}"
    listed = ", ".join(operands)
    if op.operand_type != op.type and op.name not in ("arith.cmpi", "arith.cmpf"):
        return f"{op.name} {listed} : {op.operand_type} to {op.type}"
    comparison = f"{op.pretty}, " if op.pretty else ""
    return f"{op.name} {comparison}{listed} : {op.operand_type}"


def score_inputs(kind="float"):
    return [Scalar(kind, "input", detail="score")] + mask_inputs()


def mask_inputs():
    return [Scalar("index", "input", detail=name) for name in ("batch", "head", "query", "key")]
