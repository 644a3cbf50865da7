// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_MASKATTRIBUTES_TD
#define ATTN_MASKATTRIBUTES_TD

include "attn/Dialect/Attn/IR/AttnDialect.td"
include "attn/Dialect/Attn/IR/AttnInterfaces.td"
include "mlir/IR/EnumAttr.td"

def Attn_Alignment : I32EnumAttr<"Alignment",
    "where the diagonal of a causal mask lies",
    [I32EnumAttrCase<"TopLeft", 0, "top_left">,
     I32EnumAttrCase<"BottomRight", 1, "bottom_right">,
     I32EnumAttrCase<"Offset", 2, "offset">]> {
  let cppNamespace = "::attn";
}

// A term has one C++ file in lib/Dialect/Attn/IR/Mask/Terms.

// `overridden`: methods of the interface that do without their default.
class Attn_Mask<string name, string attrMnemonic, list<string> overridden>
    : Attn_Attr<name, attrMnemonic,
                [DeclareAttrInterfaceMethods<Attn_MaskTermInterface,
                                             overridden>]>;

// A term that is written as its mnemonic, which `parseTerm` finds read.
class Attn_MaskTerm<string name, string attrMnemonic, list<string> overridden>
    : Attn_Mask<name, attrMnemonic, overridden> {
  let extraClassDeclaration = [{
    /// A null attribute is a failure that has been reported.
    static ::mlir::Attribute parseTerm(::attn::MaskOperandParser &mask);
  }];
}

// Of terms that do not name their operands by #attn.operand.
defvar ownNames = ["operandPositions", "mapOperands", "describeOperands"];

def Attn_CausalAttr : Attn_MaskTerm<"Causal", "causal",
    !listconcat(ownNames, ["verifyOperands"])> {
  let summary = "keys up to the query's own position";
  let description = [{
    Query row q sees key k if `k <= q + start`. `start` is 0 for `top_left`,
    the number of live keys minus the number of queries for `bottom_right`, and
    given for `offset`: by the constant `offset`, or, where `operand` is not
    negative, by that mask operand (one integer, or one per batch entry). With
    `in_document`, `top_left` and `bottom_right` are those of the query's own
    document.
  }];
  let parameters = (ins EnumParameter<Attn_Alignment>:$alignment,
                        DefaultValuedParameter<"int64_t", "0">:$offset,
                        DefaultValuedParameter<"int64_t", "-1">:$operand,
                        DefaultValuedParameter<"bool", "false">:$in_document);
  let assemblyFormat =
    "`<` $alignment (`,` struct($offset, $operand, $in_document)^)? `>`";
  let builders = [AttrBuilder<(ins "::attn::Alignment":$alignment,
                                   "int64_t":$offset, "int64_t":$operand), [{
    return $_get($_ctxt, alignment, offset, operand, /*in_document=*/false);
  }]>];
}

def Attn_KeyLengthAttr : Attn_MaskTerm<"KeyLength", "key_length",
    ownNames> {
  let summary = "keys below a length per batch entry";
  let description = [{
    Key k is visible if `k < length[b]`; the length is a mask operand (one
    integer, or one per batch entry).
  }];
  let parameters = (ins "int64_t":$operand);
  let assemblyFormat = "`<` $operand `>`";
}

def Attn_AllowedAttr : Attn_Mask<"Allowed", "allowed",
    !listconcat(ownNames, ["emitOpaque", "verifyOperands"])> {
  let summary = "pairs that a boolean tensor allows";
  let description = [{
    Pair (q, k) is visible if the mask operand, an i1 tensor that broadcasts to
    the scores from the right, is true there.
  }];
  let parameters = (ins "int64_t":$operand);
  let assemblyFormat = "`<` $operand `>`";
}

def Attn_OperandAttr : Attn_Attr<"Operand", "operand"> {
  let summary = "a mask operand, by position";
  let parameters = (ins "int64_t":$position);
  let assemblyFormat = "`<` $position `>`";
}

def Attn_PositionAttr : Attn_Attr<"Position", "position"> {
  let summary = "the key that query 0 stands on";
  let description = [{
    As for `causal`: key 0, the number of live keys minus the number of queries,
    or `offset`, an i64 or an `#attn.operand`; with `in_document`, as if the
    query's own document were all there is. `attn-tile-queries` makes that an
    `offset` too: a table with one integer per query row.
  }];
  let parameters = (ins EnumParameter<Attn_Alignment>:$alignment,
                        OptionalParameter<"::mlir::Attribute">:$offset,
                        DefaultValuedParameter<"bool", "false">:$in_document);
  let assemblyFormat = [{
    `<` $alignment (`,` $offset^)? (`in_document` $in_document^)? `>`
  }];
  let builders = [AttrBuilder<(ins "::attn::Alignment":$alignment,
                                   "::mlir::Attribute":$offset), [{
    return $_get($_ctxt, alignment, offset, /*in_document=*/false);
  }]>];
}

// A number of a term is an i64 or an #attn.operand.

def Attn_WindowAttr : Attn_MaskTerm<"Window", "window",
    ["verifyOperands"]> {
  let summary = "keys near the query's own position";
  let description = [{
    With p the key that query row q stands on, key k is visible if
    `p - left <= k <= p + right`. A side that is not given has no limit. Without
    a position, row q stands on key q.
  }];
  let parameters = (ins OptionalParameter<"::mlir::Attribute">:$left,
                        OptionalParameter<"::mlir::Attribute">:$right,
                        OptionalParameter<"::attn::PositionAttr">:$position);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Attn_PrefixAttr : Attn_MaskTerm<"Prefix", "prefix",
    ["verifyOperands"]> {
  let summary = "the first keys, for every query";
  let description = [{
    Key k is visible if `k < count`. Unlike `key_length` it says nothing about
    which keys hold data.
  }];
  let parameters = (ins "::mlir::Attribute":$count);
  let assemblyFormat = "`<` $count `>`";
}

def Attn_SinkAttr : Attn_MaskTerm<"Sink", "sink",
    ["verifyOperands"]> {
  let summary = "the first keys, which every query keeps seeing";
  let description = [{
    Key k is visible if `k < count`: attention sinks of a streaming model,
    written `sink(4) or window(left = 1023, right = 0)`.
  }];
  let parameters = (ins "int64_t":$count);
  let assemblyFormat = "`<` $count `>`";
}

def Attn_ChunkedAttr : Attn_MaskTerm<"Chunked", "chunked",
    ["describeOperands", "verifyOperands"]> {
  let summary = "keys of the query's own chunk";
  let description = [{
    With p the key that query row q stands on, key k is visible if
    `floor(p / size) == floor(k / size)`. Chunks begin at key 0, or at the first
    key of the query's document if the position is in it; in a tile op that key
    is the operand `origin`.
  }];
  let parameters = (ins "int64_t":$size,
                        OptionalParameter<"::attn::PositionAttr">:$position,
                        OptionalParameter<"::attn::OperandAttr">:$origin);
  let assemblyFormat = "`<` $size (`,` $position^)? (`from` $origin^)? `>`";
  let builders = [AttrBuilder<(ins "int64_t":$size,
                                   "::attn::PositionAttr":$position), [{
    return $_get($_ctxt, size, position, ::attn::OperandAttr());
  }]>];
}

def Attn_DilatedAttr : Attn_MaskTerm<"Dilated", "dilated",
    ["verifyOperands"]> {
  let summary = "keys at multiples of a distance";
  let description = [{
    With p the key that query row q stands on, key k is visible if p - k is a
    multiple of `step`.
  }];
  let parameters = (ins "int64_t":$step,
                        OptionalParameter<"::attn::PositionAttr">:$position);
  let assemblyFormat = "`<` $step (`,` $position^)? `>`";
}

def Attn_BlockAttr : Attn_MaskTerm<"Block", "block",
    ["emitOpaque", "describeOperands", "verifyOperands"]> {
  let summary = "pairs in blocks that a bitmap allows";
  let description = [{
    Pair (q, k) is visible if the bitmap is true in row `floor(q / queries)` and
    column `floor(k / keys)`; pairs outside of the bitmap are not. It is `bits`,
    row by row with `columns` columns, or an operand: an i1 matrix, maybe one
    per batch entry and head.
  }];
  let parameters = (ins "int64_t":$queries, "int64_t":$keys,
                        OptionalParameter<"::mlir::DenseBoolArrayAttr">:$bits,
                        DefaultValuedParameter<"int64_t", "0">:$columns,
                        OptionalParameter<"::attn::OperandAttr">:$operand);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Attn_TreeAttr : Attn_MaskTerm<"Tree", "tree",
    ["emitOpaque", "describeOperands", "verifyOperands"]> {
  let summary = "draft tokens that see their ancestors";
  let description = [{
    The last `tokens` live keys and the last `tokens` queries are draft tokens.
    Every query sees the keys in front of them; draft i sees draft j if bit j of
    element i of the operand is set (i32 or i64; one row of elements, or one per
    batch entry).
  }];
  let parameters = (ins "int64_t":$tokens, "::attn::OperandAttr":$operand);
  let assemblyFormat = "`<` $tokens `,` $operand `>`";
}

def Attn_DocumentAttr : Attn_MaskTerm<"Document", "document",
    ["emitOpaque", "describeOperands", "verifyOperands"]> {
  let summary = "keys of the query's own document";
  let description = [{
    Query row q and key k belong to documents; k is visible if both are the
    same. `queries` and `keys` hold the number of each row's and key's document.
    If `cumulative`, they hold where each document begins and the last ends;
    `attn-tile-queries` turns that into numbers and `spans`, two more tables:
    the first key of each row's document, and the one behind its last. In a tile
    op `bounds` are three index operands: the keys [begin, end) hold all keys
    that some row of the query tile sees, and the keys [begin, full end) are
    seen by every row.
  }];
  let parameters = (ins "::attn::OperandAttr":$queries,
                        "::attn::OperandAttr":$keys,
                        DefaultValuedParameter<"bool", "false">:$cumulative,
                        OptionalArrayRefParameter<"::attn::OperandAttr">:$bounds,
                        OptionalArrayRefParameter<"::attn::OperandAttr">:$spans);
  let assemblyFormat = [{
    `<` $queries `,` $keys (`cumulative` $cumulative^)?
    (`bounds` `[` $bounds^ `]`)? (`spans` `[` $spans^ `]`)? `>`
  }];
  let builders = [AttrBuilder<(ins "::attn::OperandAttr":$queries,
                                   "::attn::OperandAttr":$keys,
                                   "bool":$cumulative,
                                   "::llvm::ArrayRef<::attn::OperandAttr>":$bounds), [{
    return $_get($_ctxt, queries, keys, cumulative, bounds,
                 ::llvm::ArrayRef<::attn::OperandAttr>());
  }]>];
}

def Attn_StepAttr : Attn_Attr<"Step", "step"> {
  let summary = "one op of a program";
  let description = [{
    Op `name` on the values with these numbers, see `#attn.program`.
  }];
  let parameters = (ins "::mlir::StringAttr":$name,
                        "::mlir::DenseI64ArrayAttr":$operands,
                        "::mlir::DictionaryAttr":$attributes,
                        "::mlir::Type":$type);
  let assemblyFormat = "`<` $name `,` $operands `,` $attributes `,` $type `>`";
}

def Attn_ProgramAttr : Attn_Attr<"Program", "program"> {
  let summary = "the region of an attn.mask_fn, as a value";
  let description = [{
    Values are numbered: batch entry, head, query row, key, then the captured
    `inputs`, then the result of each step. The last step gives the answer, an
    i1. As an attribute it can stand in a mask, and every pass carries it.
  }];
  let parameters = (ins OptionalArrayRefParameter<"::mlir::Type">:$inputs,
                        ArrayRefParameter<"::attn::StepAttr">:$steps);
  let assemblyFormat = [{
    `<` (`inputs` `=` `[` $inputs^ `]` `,`)? $steps `>`
  }];
}

def Attn_PredicateAttr : Attn_MaskTerm<"Predicate", "predicate",
    ["emitOpaque", "describeOperands", "verifyOperands"]> {
  let summary = "pairs for which a program answers true";
  let description = [{
    What `attn-normalize` makes of an `attn.mask_fn`. Operands are the captured
    tensors; in a tile op also integers, given as index, that are the same for
    all pairs of the item.
  }];
  let parameters = (ins "::attn::ProgramAttr":$program,
                        OptionalArrayRefParameter<"::attn::OperandAttr">:$operands);
  let assemblyFormat = "`<` $program (`,` `[` $operands^ `]`)? `>`";
}

defvar combines = ["operandPositions", "mapOperands", "verifyOperands"];

def Attn_AllOfAttr : Attn_Mask<"AllOf", "all_of", combines> {
  let summary = "pairs that every term sees";
  let parameters = (ins ArrayRefParameter<"::mlir::Attribute">:$terms);
  let assemblyFormat = "`<` $terms `>`";
}

def Attn_AnyOfAttr : Attn_Mask<"AnyOf", "any_of", combines> {
  let summary = "pairs that some term sees";
  let parameters = (ins ArrayRefParameter<"::mlir::Attribute">:$terms);
  let assemblyFormat = "`<` $terms `>`";
}

def Attn_NotAttr : Attn_Mask<"Not", "not", combines> {
  let summary = "pairs that the term does not see";
  let parameters = (ins "::mlir::Attribute":$term);
  let assemblyFormat = "`<` $term `>`";
}

#endif
