# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mutations of specifications: most keep the text's structure, so that it comes past the parser; some do not."""
import re

INTEGERS = [0, 1, 2, 3, 7, 8, 16, 17, 64, 1000, 65536, 10**6, 2**31 - 1, 2**31, 2**32, 2**40 - 1, 2**40, 2**61, 2**62, 2**63 - 1,
            2**63, 2**64, -1, -2, -2**31, -2**40, -2**61, -2**63]
SIZES = ["0", "1", "2", "3", "5", "7", "8", "15", "16", "17", "33", "64", "65", "128", "130", "576", "1000", "1024", "1025", "4096",
         "?", "?", "?", "100000", "2147483648", "4611686018427387904", "9223372036854775807"]
FLOATS = ["0.0", "-0.0", "1.0", "-1.0", "1.0e-300", "1.0e-45", "1.0e300", "1.0e38", "3.4e39", "0x7FC00000", "0x7F800000",
          "0xFF800000", "0x7FF8000000000000", "0x7FF0000000000000", "0.125"]
ELEMENTS = ["f32", "f32", "f16", "bf16", "f64", "i1", "i8", "i32", "i64", "index", "f8E4M3FN", "f80", "f128", "tf32", "i128",
            "complex<f32>", "none", "vector<4xf32>"]
NAMES = ["main", "write", "memcpy", "malloc", "int", "register", "attn_tensor", "a", "a_args", "printf", "f.kernel", '"a b"', '""',
         "_", "x" * 300, "errno", "environ", "sizeof", "NULL", "exp", "abort", "help", "size", "workspace", "threads", "class"]
WORDS = [
    ["top_left", "bottom_right", "offset = 3", "offset = -7", "offset = 2305843009213693952", "top_left in document",
     "bottom_right in document"],
    ["and", "or", "and not", "or not"],
    ["bhsd", "bshd"], ["softmax", "sigmoid"], ["raw", "scaled", "modified", "biased", "masked"],
    ["slt", "sle", "sgt", "sge", "eq", "ne", "ult", "ule", "ugt", "uge"],
    ["arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf", "arith.minnumf", "arith.remf"],
    ["arith.addi", "arith.subi", "arith.muli", "arith.divsi", "arith.divui", "arith.floordivsi", "arith.ceildivsi", "arith.remsi",
     "arith.remui", "arith.shli", "arith.shrsi", "arith.shrui", "arith.andi", "arith.ori", "arith.xori", "arith.minsi",
     "arith.maxsi", "arith.maxui"],
    ["math.tanh", "math.exp", "math.log", "math.sqrt", "math.rsqrt", "math.absf", "math.erf", "math.sin", "math.floor",
     "math.cbrt", "math.atan", "math.round", "math.log1p", "arith.negf"],
    ["attn.scale", "attn.softcap", "attn.softmax", "attn.sigmoid", "attn.mask", "attn.bias", "attn.alibi", "attn.scores",
     "attn.context", "attn.project", "attn.rope", "attn.rms_norm", "attn.split_heads", "attn.merge_heads"],
    ["prefill", "decode"], ["single", "pairs", "tiles"], ["out", "out, lse", "out, lse, weights", "out, weights", "out, state",
     "out, lse, state", "out, lse, weights, scores, state", "lse"],
    ["linalg.matmul", "linalg.matvec", "linalg.batch_matmul", "linalg.add", "linalg.exp", "linalg.copy"],
    ["parallel", "reduction"], ["private", "public", "nested"],
    ["tensor.extract_slice", "tensor.insert_slice", "tensor.cast", "tensor.pad", "tensor.reshape", "tensor.collapse_shape"],
]
TERMS = ["causal(top_left)", "causal(bottom_right)", "causal(offset = N)", "window(left = N, right = N)", "window(left = N)",
         "window(right = N, bottom_right)", "sink(N)", "prefix(N)", "chunked(N)", "chunked(N, bottom_right)", "dilated(N)",
         "dilated(N, offset = N)", "block(N, N, bits = [[1, 0], [1, 1]])", "block(1, 1, bits = [[0]])", "%mask : tensor<4x4xi1>",
         "key_length(%len : tensor<2xi32>)", "document(%ids : tensor<?xi32>)"]
# Ops on a value {v} of type {t}, whose result {n} stands for it behind them.
AROUND = [
    "{n} = math.cbrt {v} : {t}", "{n} = math.tanh {v} : {t}", "{n} = math.powf {v}, {v} : {t}", "{n} = math.atan2 {v}, {v} : {t}",
    "{n} = math.fma {v}, {v}, {v} : {t}", "{n} = math.round {v} : {t}", "{n} = arith.negf {v} : {t}", "{n} = ub.poison : {t}",
    "{n} = arith.constant dense<1.5> : {t}", "{n} = arith.constant dense<0x7FC00000> : {t}", "{n} = tensor.cast {v} : {t} to {t}",
    "{n} = linalg.softmax dimension(1) ins({v} : {t}) outs({v} : {t}) -> {t}", "{n} = linalg.exp ins({v} : {t}) outs({v} : {t}) -> {t}",
    "{n} = linalg.copy ins({v} : {t}) outs({v} : {t}) -> {t}", "{n} = linalg.add ins({v}, {v} : {t}, {t}) outs({v} : {t}) -> {t}",
    "{n} = linalg.map {{ arith.addf }} ins({v}, {v} : {t}, {t}) outs({v} : {t})", "{n} = tensor.empty() : {t}",
    "{n} = bufferization.alloc_tensor() copy({v}) : {t}", "{n} = tensor.bitcast {v} : {t} to {t}", '{n} = "tensor.cast"({v}) : ({t}) -> {t}',
    "%yes{i} = arith.constant true\n  {n} = scf.if %yes{i} -> ({t}) {{\n    scf.yield {v} : {t}\n  }} else {{\n    scf.yield {v} : {t}\n  }}",
    "%zero{i} = arith.constant 0 : index\n  %end{i} = arith.constant 3 : index\n  %step{i} = arith.constant 1 : index\n"
    "  {n} = scf.for %i{i} = %zero{i} to %end{i} step %step{i} iter_args(%a{i} = {v}) -> ({t}) {{\n    %b{i} = arith.addf %a{i}, {v} : {t}\n"
    "    scf.yield %b{i} : {t}\n  }}",
    "%yes{i} = arith.constant false\n  cf.assert %yes{i}, \"no\"\n  {n} = arith.addf {v}, {v} : {t}",
    "{n} = scf.execute_region -> {t} {{\n    scf.yield {v} : {t}\n  }}", "{n} = attn.scale {v} by 0.5 : {t}",
    "{n} = attn.rms_norm {v} eps 1.0e-6 : {t}", "{n} = attn.softcap {v} at 2.0 : {t}", "{n} = attn.sdpa {v}, {v}, {v} scale 0.5 : ({t}, {t}, {t}) -> {t}",
    "{n} = tensor.generate {{\n  ^bb0(%i{i}: index, %j{i}: index):\n    %c{i} = arith.constant 1.0 : f32\n    tensor.yield %c{i} : f32\n  }} : {t}",
]
NUMBER = re.compile(r"(?<![\w%.#@!])-?\d+(?![\w.])")
FLOAT = re.compile(r"(?<![\w%.#@!])-?\d+\.\d*(?:[eE][+-]?\d+)?")
DIM = re.compile(r"(?<=[<x])(?:\d+|\?)(?=x)")
ELEMENT = re.compile(r"\b(?:f16|bf16|f32|f64|i1|i32|i64|index)\b")
VALUE = re.compile(r"%[A-Za-z_]\w*(?:#\d+)?|%\d+")


class Mutator:
    """One mutant; `rng` decides everything."""

    def __init__(self, rng, modules):
        self.rng, self.modules = rng, modules

    def pick(self, options):
        return options[int(self.rng.integers(len(options)))]

    def mutant(self):
        text = self.pick(self.modules)
        for _ in range(min(int(self.rng.geometric(0.5)), 6)):
            text = self.pick(STEPS)(self, text)
            if len(text) > 50_000:
                break
        data = text.encode()
        return self.bytes_of(data) if self.rng.random() < 0.06 else data

    def at(self, pattern, text, replacement):
        """One match replaced by a string, or by what a function makes of the match."""
        found = list(pattern.finditer(text))
        if not found:
            return text
        match = self.pick(found)
        new = replacement(match) if callable(replacement) else replacement
        return text[:match.start()] + new + text[match.end():]

    def everywhere(self, pattern, text, new):
        found = sorted({match[0] for match in pattern.finditer(text)})
        if not found:
            return text
        old = self.pick(found)
        return pattern.sub(lambda match: new if match[0] == old else match[0], text)

    def number(self):
        return str(self.pick(INTEGERS) + (int(self.rng.integers(-2, 3)) if self.rng.random() < 0.2 else 0))

    # --- numbers and types ---

    def integer(self, text):
        return self.at(NUMBER, text, lambda m: self.number())

    def neighbour(self, text):
        return self.at(NUMBER, text, lambda m: str(int(m[0]) + self.pick([-1, 1, 2])))

    def float(self, text):
        return self.at(FLOAT, text, self.pick(FLOATS))

    def one_size(self, text):
        return self.at(DIM, text, self.pick(SIZES))

    def every_size(self, text):
        return self.everywhere(DIM, text, self.pick(SIZES))

    def one_element(self, text):
        return self.at(ELEMENT, text, self.pick(ELEMENTS))

    def every_element(self, text):
        return self.everywhere(ELEMENT, text, self.pick(ELEMENTS))

    def rank(self, text):
        if self.rng.random() < 0.5:
            return text.replace("tensor<", "tensor<" + self.pick(SIZES) + "x")
        return re.sub(r"tensor<(\d+|\?)x", "tensor<", text)

    # --- values and lines ---

    def types(self, text):
        """Type -> values, where the text tells it in a simple way."""
        found = {}
        for name, type in re.findall(r"(%\w+): (![a-z]\w*|tensor<[^>]*>)", text):
            found.setdefault(type, []).append(name)
        for name, type in re.findall(r"^\s*(%\w+) = [^{\n]*[ >](![a-z]\w*|tensor<[^>]*>)$", text, re.MULTILINE):
            found.setdefault(type, []).append(name)
        return found

    def operand(self, text):
        """A use of one value becomes one of another, mostly of the same type."""
        alike = [names for names in self.types(text).values() if len(set(names)) > 1]
        if not alike or self.rng.random() < 0.15:
            return self.at(VALUE, text, self.pick(VALUE.findall(text) or [""]))
        names = self.pick(alike)
        used = re.compile("|".join(rf"{re.escape(name)}(?![\w:])(?! =)(?!: )" for name in names))
        return self.at(used, text, self.pick(names))

    def every_operand(self, text):
        """One value stands for another in all places but its definition's."""
        names = sorted(set(VALUE.findall(text)))
        if len(names) < 2:
            return text
        old, new = self.pick(names), self.pick(names)
        uses = re.compile(rf"{re.escape(old)}(?![\w#])(?! *[:=,] *(?:tensor|!|attn|arith|tensor))")
        return uses.sub(new, text)

    def swapped(self, text):
        lines = text.split("\n")
        with_two = [i for i, line in enumerate(lines) if len(VALUE.findall(line.split("=", 1)[-1])) > 1]
        if not with_two:
            return text
        i = self.pick(with_two)
        head, equals, tail = lines[i].rpartition("= ") if "= " in lines[i] else ("", "", lines[i])
        found = list(VALUE.finditer(tail))
        if len(found) > 1:
            a, b = sorted(self.rng.choice(len(found), 2, replace=False))
            a, b = found[a], found[b]
            tail = tail[:a.start()] + b[0] + tail[a.end():b.start()] + a[0] + tail[b.end():]
        lines[i] = head + equals + tail
        return "\n".join(lines)

    def deleted(self, text):
        lines = text.split("\n")
        lines.pop(int(self.rng.integers(len(lines))))
        return "\n".join(lines)

    def moved(self, text):
        lines = text.split("\n")
        line = lines.pop(int(self.rng.integers(len(lines))))
        lines.insert(int(self.rng.integers(len(lines) + 1)), line)
        return "\n".join(lines)

    def behind(self, lines, i, new, name, other):
        """New lines behind line `i`; what comes then reads `other` where it read `name`."""
        rest = [re.sub(rf"{re.escape(name)}\b", other, line) for line in lines[i + 1:]]
        return "\n".join(lines[:i + 1] + new + rest)

    def line_of(self, text, pattern):
        """All lines, and the number of one of this form, if there is one."""
        lines = text.split("\n")
        found = [i for i, line in enumerate(lines) if re.match(pattern, line)]
        return lines, self.pick(found) if found else None

    def chained(self, text):
        """A line again, once or often, each time on its own result where it can be."""
        lines, i = self.line_of(text, r"\s*%\w+ = [^{]*$")
        if i is None:
            return text
        name, op = re.match(r"\s*(%\w+) = (.*)$", lines[i]).groups()
        inputs = VALUE.findall(op)
        last, new = name, []
        for n in range(self.pick([1, 1, 2, 3, 40])):
            again = op.replace(inputs[0], last, 1) if inputs and self.rng.random() < 0.8 else op
            last = f"{name}_{n}_again"
            new.append(f"  {last} = {again}")
        return self.behind(lines, i, new, name, last)

    def residual(self, text):
        """An elementwise op on a result and a value of its type, as a program around attention has it."""
        lines, i = self.line_of(text, r".*%\w+ = [^{]*[:>] *(tensor<[^>]*f\d+>|![a-z]\w*)$")
        if i is None:
            return text
        name = re.search(r"(%\w+) = ", lines[i])[1]
        type = re.findall(r"tensor<[^>]*>|![a-z]\w*", lines[i])[-1]
        same = [other for other in self.types("\n".join(lines[:i])).get(type, []) if other != name] or [name]
        op = self.pick(["arith.addf", "arith.mulf", "arith.subf", "arith.maximumf"])
        new = f"  {name}_more = {op} {name}, {self.pick(same)} : {type}"
        return self.behind(lines, i, [new], name, name + "_more")

    def around(self, text):
        """An op that is no attention's, on one of the values."""
        places = [(name, type) for type, names in self.types(text).items() for name in names]
        if not places:
            return text
        name, type = self.pick(places)
        lines = text.split("\n")
        defined = [i for i, line in enumerate(lines) if re.search(rf"{re.escape(name)}(?: = |: )", line) and not line.startswith("    ")]
        if not defined:
            return text
        i = defined[0]
        while not lines[i].rstrip().endswith("{") and lines[i].startswith(("func", "    ")) and i + 1 < len(lines):
            i += 1  # the rest of the signature
        new = f"{name}_new{i}"
        op = self.pick(AROUND).format(n=new, v=name, t=type, i=i)
        return self.behind(lines, i, ["  " + op], name, new)

    def also_returned(self, text):
        """A value more is returned."""
        found = [(name, type) for type, names in self.types(text).items() for name in names]
        match = re.search(r"^(func\.func [^{]* -> )\(?(.*?)\)? \{$(.*?)^  return (.*?) : (.*?)$", text, re.MULTILINE | re.DOTALL)
        if not match or not found:
            return text
        name, type = self.pick(found)
        new = f"{match[1]}({match[2]}, {type}) {{{match[3]}  return {match[4]}, {name} : {match[5]}, {type}"
        return text[:match.start()] + new + text[match.end():]

    # --- names, words, masks ---

    def renamed(self, text):
        if self.rng.random() < 0.5:
            return self.at(re.compile(r"(?<=@)\w+"), text, self.pick(NAMES))
        values = [m for m in re.findall(r"%([A-Za-z_]\w*): ", text)]
        if not values:
            return text
        old, new = self.pick(values), self.pick([name for name in NAMES if name.isidentifier()])
        return re.sub(rf"%{old}\b", "%" + new, text)

    def port_name(self, text):
        name = self.pick(NAMES).strip('"')
        return self.at(re.compile(r"(%\w+: tensor<[^>]*>)(?=[,)])"), text, lambda m: f'{m[1]} {{attn.name = "{name}"}}')

    def word(self, text):
        words = self.pick(WORDS)
        return self.at(re.compile("|".join(rf"(?<![\w.]){re.escape(word)}(?![\w.])" for word in words)), text, self.pick(words))

    def mask_of(self, depth):
        term = re.sub(r"\bN\b", lambda m: self.number(), self.pick(TERMS))
        if depth == 0:
            return self.pick(["", "", "not "]) + term
        return f"({self.mask_of(depth - 1)} {self.pick(['and', 'or'])} {self.mask_of(int(self.rng.integers(depth)))})"

    def mask(self, text):
        new = self.mask_of(int(self.rng.integers(4)))
        new = new[1:-1] if new.startswith("(") else new
        if self.rng.random() < 0.5:
            return self.at(re.compile(r"where (?=\S)"), text, f"where {new} {self.pick(['and', 'or'])} ")
        if self.rng.random() < 0.5:
            return self.at(re.compile(r"(?<=where ).*?(?= : tensor| : \(|$)", re.MULTILINE), text, new)
        return self.at(re.compile(r"(scale [\d.e+-]+)(?= : )"), text, lambda m: f"{m[1]} where {new}")

    def long_mask(self, text):
        count, word = self.pick([13, 40, 200]), self.pick([" and ", " or "])
        terms = word.join(re.sub(r"\bN\b", lambda m: str(int(self.rng.integers(1, 60))), self.pick(TERMS[:14])) for _ in range(count))
        return self.at(re.compile(r"(?<=where ).*?(?= : tensor| : \(|$)", re.MULTILINE), text, terms)

    def nested(self, text):
        depth = self.pick([3, 100, 10**4, 10**5])
        return self.at(re.compile(r"(?<=where )(\w+\([^()]*\))"), text, lambda m: "(" * depth + m[1] + ")" * depth)

    # --- several functions ---

    def spliced(self, text):
        other = self.pick(self.modules)
        if self.rng.random() < 0.3:
            other = re.sub(r"func\.func @", "func.func private @", other)
        taken = set(re.findall(r"@(\w+)", text))
        other = re.sub(r"@(\w+)", lambda m: "@" + m[1] + ("_2" if m[1] in taken else ""), other)
        return text + "\n" + other

    def body_of_other(self, text):
        """A line of another module, between two of this one."""
        lines, others = text.split("\n"), self.pick(self.modules).split("\n")
        lines.insert(int(self.rng.integers(len(lines))), self.pick(others))
        return "\n".join(lines)

    def called(self, text):
        """The first function becomes private, and another one calls it."""
        match = re.search(r"func\.func @(\w+)\(([^{]*)\) -> \(?(tensor<[^()]*>)\)? \{", text)
        if not match:
            return text
        name, arguments, results = match.groups()
        pairs = re.findall(r"(%\w+): (tensor<[^>]*>)", arguments)
        types = ", ".join(type for _, type in pairs)
        count = results.count("tensor<")
        values = ", ".join(f"%r#{i}" for i in range(count)) if count > 1 else "%r"
        define = f"%r:{count}" if count > 1 else "%r"
        return text.replace(f"func.func @{name}(", f"func.func private @{name}(", 1) + (
            f"func.func @outer({', '.join(f'{n}: {t}' for n, t in pairs)}) -> ({results}) {{\n"
            f"  {define} = func.call @{name}({', '.join(n for n, _ in pairs)}) : ({types}) -> ({results})\n"
            f"  return {values} : {results}\n}}\n")

    # --- bytes ---

    def bytes_of(self, data):
        data = bytearray(data)
        for _ in range(int(self.rng.integers(1, 5))):
            at = int(self.rng.integers(len(data) + 1))
            kind = self.rng.integers(5)
            if kind == 0 and at < len(data):
                data[at] ^= 1 << int(self.rng.integers(8))
            elif kind == 1:
                data[at:at] = bytes(self.rng.integers(0, 256, int(self.rng.integers(1, 9)), dtype="uint8"))
            elif kind == 2:
                del data[at:at + int(self.rng.integers(1, 60))]
            elif kind == 3:
                del data[at:]
            else:
                data[at:at] = self.pick([b"\0", b"\xff\xfe", b'"', b"(" * 300, b"{" * 300, b"<" * 300, b"[" * 300, b"//", b"#x", b"!t"])
        return bytes(data)


M = Mutator
STEPS = ([M.integer, M.every_size, M.every_element, M.operand, M.word, M.mask, M.residual, M.around, M.chained, M.also_returned] * 4 +
         [M.neighbour, M.float, M.swapped, M.spliced, M.called] * 2 +
         [M.one_size, M.one_element, M.every_operand, M.rank, M.deleted, M.moved, M.renamed, M.port_name, M.long_mask, M.nested,
          M.body_of_other])
