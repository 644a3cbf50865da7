// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_ATTRIBUTES_TD
#define ATTN_ATTRIBUTES_TD

include "attn/Dialect/Attn/IR/AttnDialect.td"
include "attn/Dialect/Attn/IR/AttnInterfaces.td"
include "attn/Dialect/Attn/IR/AttnTypes.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Attn_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Attn_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

// --- enumerations ---

def Attn_Alignment : I32EnumAttr<"Alignment",
    "where the diagonal of a causal mask lies",
    [I32EnumAttrCase<"TopLeft", 0, "top_left">,
     I32EnumAttrCase<"BottomRight", 1, "bottom_right">,
     I32EnumAttrCase<"Offset", 2, "offset">]> {
  let cppNamespace = "::attn";
}

def Attn_LayoutEnum : I32EnumAttr<"Layout",
    "order of the head and sequence dimensions",
    [I32EnumAttrCase<"HeadMajor", 0, "bhsd">,
     I32EnumAttrCase<"SequenceMajor", 1, "bshd">]> {
  let cppNamespace = "::attn";
  let genSpecializedAttr = 0;
}
def Attn_LayoutAttr : EnumAttr<Attn_Dialect, Attn_LayoutEnum, "layout">;

def Attn_ScoresStageEnum : I32EnumAttr<"ScoresStage",
    "which step's scores the `scores` result holds",
    [I32EnumAttrCase<"Raw", 0, "raw">,
     I32EnumAttrCase<"Scaled", 1, "scaled">,
     I32EnumAttrCase<"Modified", 2, "modified">,
     I32EnumAttrCase<"Biased", 3, "biased">,
     I32EnumAttrCase<"Masked", 4, "masked">]> {
  let cppNamespace = "::attn";
  let genSpecializedAttr = 0;
}
def Attn_ScoresStageAttr
    : EnumAttr<Attn_Dialect, Attn_ScoresStageEnum, "scores_stage">;

def Attn_NormalizationAttr
    : EnumAttr<Attn_Dialect, Attn_NormalizationEnum, "normalization">;

def Attn_TileModeEnum : I32EnumAttr<"TileMode",
    "whether every pair of a tile is visible",
    [I32EnumAttrCase<"Full", 0, "full">,
     I32EnumAttrCase<"Edge", 1, "edge">]> {
  let cppNamespace = "::attn";
  let genSpecializedAttr = 0;
}
def Attn_TileModeAttr : EnumAttr<Attn_Dialect, Attn_TileModeEnum, "tile_mode">;

// --- mask terms: one C++ file each in lib/Dialect/Attn/IR/Masks ---

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

// --- target ---

def Attn_TargetAttr : Attn_Attr<"Target", "target"> {
  let summary = "what tile sizes and code follow from";
  let description = [{
    The processor that kernels are made for, as the module's attribute
    `attn.target`. `lanes` is the number of f32 values in a vector register,
    `registers` the number of these; `chains` independent multiply-adds hide
    their latency, `pair_chains` independent dot products of bf16 pairs (0 where
    there are none); `l1_bytes` is the level-1 data cache. `products` is the
    largest product of bf16 that a schedule may use.

    The others are instructions: `scalef` multiplies 16 f32 by powers of two,
    `f16` converts between f16 and f32, `bf16` rounds f32 to bf16 and adds up
    products of pairs, `amx` multiplies tiles of bf16, `lane_products` multiplies
    by one lane of a register. A schedule may use products that there is no
    instruction for; they become loops.

    Without the attribute a module is for 16 registers of 8 lanes and plain
    vector code. `--target` sets it, `--target-facts` changes single fields.
  }];
  let parameters = (ins
      StringRefParameter<"LLVM's target triple", "\"\"">:$triple,
      StringRefParameter<"LLVM's name of the processor", "\"\"">:$processor,
      DefaultValuedParameter<"int64_t", "8">:$lanes,
      DefaultValuedParameter<"int64_t", "16">:$registers,
      DefaultValuedParameter<"int64_t", "8">:$chains,
      DefaultValuedParameter<"int64_t", "0">:$pair_chains,
      DefaultValuedParameter<"int64_t", "32768">:$l1_bytes,
      Attn_ProductsParameter:$products,
      DefaultValuedParameter<"bool", "false">:$scalef,
      DefaultValuedParameter<"bool", "false">:$f16,
      DefaultValuedParameter<"bool", "false">:$bf16,
      DefaultValuedParameter<"bool", "false">:$amx,
      DefaultValuedParameter<"bool", "false">:$lane_products);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The module's attribute.
    static constexpr ::llvm::StringLiteral moduleAttr = "attn.target";
    /// That of the module around `op`, or what a module without one is for.
    static TargetAttr of(::mlir::Operation *op);
  }];
}

// --- port ---

def Attn_PortAttr : Attn_Attr<"Port", "port"> {
  let summary = "an argument or a result, as its caller sees it";
  let description = [{
    An entry of a function's attribute `attn.ports`, which holds the arguments
    and then the results. Per dimension stands the size it must have, or the
    name of an unknown one: equal names are equal sizes.

    ```text
    #attn.port<"q", input [q0, 8, q2, 64] : tensor<?x8x?x64xf32>>
    ```

    A tensor with `not_empty` has an element wherever, for one of its lists, all
    sizes of that list are above 0. A result may be the memory of the arguments
    that `overlaps` names.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "bool":$input,
      ArrayRefParameter<"int64_t", "-1 where it has a name">:$sizes,
      ArrayRefParameter<"::mlir::StringAttr", "empty where it is known">:
          $symbols,
      "::mlir::RankedTensorType":$type,
      OptionalArrayRefParameter<"::mlir::ArrayAttr">:$not_empty,
      OptionalArrayRefParameter<"::mlir::StringAttr">:$overlaps);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The function's attribute.
    static constexpr ::llvm::StringLiteral functionAttr = "attn.ports";
    /// Those of `function`; none where it has no such attribute.
    static ::std::vector<PortAttr> of(::mlir::Operation *function);

    int64_t getRank() const { return getType().getRank(); }
    ::mlir::Type getElementType() const { return getType().getElementType(); }
    /// The size, or its name.
    std::string sizeText(int64_t dim) const;
  }];
}

// --- schedule ---

def Attn_ScheduleAttr : Attn_Attr<"Schedule", "schedule"> {
  let summary = "tile sizes of a kernel";
  let description = [{
    All sizes a lowering needs. `lanes` is the number of f32 values in a vector
    register. A register tile has `rows` keys (or value dimensions) times
    `vectors` vectors of queries; a query block is `lanes * vectors` queries. A query
    tile has `query_tile` rows (a multiple of the query block), a key tile `key_tile`
    keys (a multiple of `rows`). `unroll` counts steps of the two products'
    inner loops. `prefetch` is the locality of software prefetches, 0 for none.

    In kind `decode`, for few queries, lanes hold features instead: a register
    tile of the scores has `rows` keys times `block` queries (4 or 8), one of the
    context `block` queries times `vectors` vectors of features. In the scores a
    vector holds features of `interleave` queries, to which those of a key are
    repeated: what is left to add up are `lanes / interleave` lanes. A query tile
    holds all queries of a group of heads, at most `query_tile`, and an item has
    `split_keys` keys (a multiple of `key_tile`); the parts of a sequence are
    merged.

    In kind `prefill`, `split_keys` cuts keys into such items as well, where a
    head has at most `split_queries` queries and keys for two parts; 0 never.

    `products` is `fma`, one FMA per number, or, of bf16, `dot`:
    both products add up dot products of two numbers; or `amx`: they multiply
    matrices of 16 x 32 with 32 x 16 numbers, and a register of a register tile
    holds 16 x 16 sums, of which it has `rows / 16` times `vectors`.
    `assign-schedule` derives it from the target; written by hand it pins.
  }];
  let parameters = (ins "int64_t":$lanes, "int64_t":$rows, "int64_t":$vectors,
                        "int64_t":$query_tile, "int64_t":$key_tile,
                        "int64_t":$unroll, "int64_t":$prefetch,
                        Attn_KindParameter:$kind,
                        DefaultValuedParameter<"int64_t", "0">:$split_keys,
                        DefaultValuedParameter<"int64_t", "0">:$split_queries,
                        Attn_ProductsParameter:$products,
                        DefaultValuedParameter<"int64_t", "4">:$block,
                        DefaultValuedParameter<"int64_t", "1">:$interleave);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// Queries in one query block.
    int64_t getQueryBlock() const { return getLanes() * getVectors(); }
    /// Whether kernels keep queries and weights in pairs of bf16.
    bool usesDot() const { return getProducts() != Products::Fma; }
    bool usesAmx() const { return getProducts() == Products::Amx; }
  }];
  let genVerifyDecl = 1;
}

#endif
