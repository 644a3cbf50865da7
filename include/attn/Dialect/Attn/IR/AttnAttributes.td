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
     I32EnumAttrCase<"Biased", 2, "biased">,
     I32EnumAttrCase<"Masked", 3, "masked">]> {
  let cppNamespace = "::attn";
  let genSpecializedAttr = 0;
}
def Attn_ScoresStageAttr
    : EnumAttr<Attn_Dialect, Attn_ScoresStageEnum, "scores_stage">;

def Attn_TileModeEnum : I32EnumAttr<"TileMode",
    "whether every pair of a tile is visible",
    [I32EnumAttrCase<"Full", 0, "full">,
     I32EnumAttrCase<"Edge", 1, "edge">]> {
  let cppNamespace = "::attn";
  let genSpecializedAttr = 0;
}
def Attn_TileModeAttr : EnumAttr<Attn_Dialect, Attn_TileModeEnum, "tile_mode">;

// --- mask terms: one C++ file each in lib/Dialect/Attn/IR/Masks ---

class Attn_MaskTerm<string name, string attrMnemonic>
    : Attn_Attr<name, attrMnemonic,
                [DeclareAttrInterfaceMethods<Attn_MaskTermInterface>]>;

def Attn_CausalAttr : Attn_MaskTerm<"Causal", "causal"> {
  let summary = "keys up to the query's own position";
  let description = [{
    Query row q sees key k if `k <= q + start`. `start` is 0 for `top_left`,
    the number of live keys minus the number of queries for `bottom_right`, and
    given for `offset`: by the constant `offset`, or, where `operand` is not
    negative, by that mask operand (one integer, or one per batch entry).
  }];
  let parameters = (ins EnumParameter<Attn_Alignment>:$alignment,
                        DefaultValuedParameter<"int64_t", "0">:$offset,
                        DefaultValuedParameter<"int64_t", "-1">:$operand);
  let assemblyFormat = "`<` $alignment (`,` struct($offset, $operand)^)? `>`";
}

def Attn_KeyLengthAttr : Attn_MaskTerm<"KeyLength", "key_length"> {
  let summary = "keys below a length per batch entry";
  let description = [{
    Key k is visible if `k < length[b]`; the length is a mask operand (one
    integer, or one per batch entry).
  }];
  let parameters = (ins "int64_t":$operand);
  let assemblyFormat = "`<` $operand `>`";
}

def Attn_AllowedAttr : Attn_MaskTerm<"Allowed", "allowed"> {
  let summary = "pairs that a boolean tensor allows";
  let description = [{
    Pair (q, k) is visible if the mask operand, an i1 tensor that broadcasts to
    the scores from the right, is true there.
  }];
  let parameters = (ins "int64_t":$operand);
  let assemblyFormat = "`<` $operand `>`";
}

def Attn_AllOfAttr : Attn_MaskTerm<"AllOf", "all_of"> {
  let summary = "pairs that every term sees";
  let parameters = (ins ArrayRefParameter<"::mlir::Attribute">:$terms);
  let assemblyFormat = "`<` $terms `>`";
}

def Attn_AnyOfAttr : Attn_MaskTerm<"AnyOf", "any_of"> {
  let summary = "pairs that some term sees";
  let parameters = (ins ArrayRefParameter<"::mlir::Attribute">:$terms);
  let assemblyFormat = "`<` $terms `>`";
}

def Attn_NotAttr : Attn_MaskTerm<"Not", "not"> {
  let summary = "pairs that the term does not see";
  let parameters = (ins "::mlir::Attribute":$term);
  let assemblyFormat = "`<` $term `>`";
}

// --- schedule ---

def Attn_ScheduleAttr : Attn_Attr<"Schedule", "schedule"> {
  let summary = "tile sizes of a kernel";
  let description = [{
    All sizes a lowering needs. `lanes` is the number of f32 values in a vector
    register. A register tile has `rows` keys (or value dimensions) times
    `vectors` vectors of queries; a panel is `lanes * vectors` queries. A query
    tile has `query_tile` rows (a multiple of the panel), a key tile `key_tile`
    keys (a multiple of `rows`). `unroll` counts steps of the two products'
    inner loops. `prefetch` is the locality of software prefetches, 0 for none.

    In kind `decode`, for few queries, lanes hold features instead: a register
    tile of the scores has `rows` keys times 4 queries, one of the context 4
    queries times `vectors` vectors of features. A query tile holds all queries
    of a group of heads, at most `query_tile`, and an item has `split_keys` keys
    (a multiple of `key_tile`); the parts of a sequence are merged.
    `assign-schedule` derives it from the target; written by hand it pins.
  }];
  let parameters = (ins "int64_t":$lanes, "int64_t":$rows, "int64_t":$vectors,
                        "int64_t":$query_tile, "int64_t":$key_tile,
                        "int64_t":$unroll, "int64_t":$prefetch,
                        Attn_KindParameter:$kind,
                        DefaultValuedParameter<"int64_t", "0">:$split_keys);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// Queries in one panel.
    int64_t getPanel() const { return getLanes() * getVectors(); }
  }];
  let genVerifyDecl = 1;
}

#endif
