// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_ATTRIBUTES_TD
#define ATTN_ATTRIBUTES_TD

include "attn/Dialect/Attn/IR/AttnTypes.td"
include "attn/Dialect/Attn/IR/Mask/AttnMaskAttributes.td"
include "attn/Dialect/Attn/IR/Tile/AttnSchedules.td"
include "mlir/IR/EnumAttr.td"

// --- enumerations ---

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

// --- target ---

def Attn_TargetAttr : Attn_Attr<"Target", "target"> {
  let summary = "what tile sizes and code follow from";
  let description = [{
    The processor that kernels are made for, as the module's attribute
    `attn.target`. `lanes` is the number of f32 values in a vector register,
    `registers` the number of these; `chains` independent multiply-adds hide
    their latency, `pair_chains` independent dot products of bf16 pairs (0 where
    there are none, or none that are worth it); `l1_bytes` is the level-1 data
    cache. `products` is the largest product of bf16 that a schedule may use.

    The others are instructions: `scalef` multiplies 16 f32 by powers of two,
    `f16` converts between f16 and f32, `bf16` rounds f32 to bf16 and adds up
    products of pairs, `amx` multiplies tiles of bf16, `lane_products` multiplies
    by one lane of a register. A schedule may use products that there is no
    instruction for; they become loops.

    `shared_bytes` is the shared memory that a block of a GPU can have, 0 on a
    processor.

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
      DefaultValuedParameter<"bool", "false">:$lane_products,
      DefaultValuedParameter<"int64_t", "0">:$shared_bytes);
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
    name of an unknown one: equal names are equal sizes. A result may have a size
    that is computed of others, "past+new" or "(t+1)/2": by + - * and /, which
    rounds down.

    ```text
    #attn.port<"q", input [q0, 8, q2, 64] : tensor<?x8x?x64xf32>>
    ```

    A tensor with `not_empty` has an element wherever, for one of its lists, all
    sizes of that list are above 0. A result may be the memory of the arguments
    that `overlaps` names. An `optional` argument is full of zeros where the
    caller leaves it out.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "bool":$input,
      ArrayRefParameter<"int64_t", "-1 where it has a name">:$sizes,
      ArrayRefParameter<"::mlir::StringAttr", "empty where it is known">:
          $symbols,
      "::mlir::RankedTensorType":$type,
      OptionalArrayRefParameter<"::mlir::ArrayAttr">:$not_empty,
      OptionalArrayRefParameter<"::mlir::StringAttr">:$overlaps,
      DefaultValuedParameter<"bool", "false">:$optional);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The function's attribute.
    static constexpr ::llvm::StringLiteral functionAttr = "attn.ports";
    /// That of an argument that a caller may leave out.
    static constexpr ::llvm::StringLiteral optionalAttr = "attn.optional";
    /// Of an argument that the forward function returns for the gradient.
    static constexpr ::llvm::StringLiteral residualAttr = "attn.residual";
    /// Those of `function`; none where it has no such attribute.
    static ::std::vector<PortAttr> of(::mlir::Operation *function);

    int64_t getRank() const { return getType().getRank(); }
    ::mlir::Type getElementType() const { return getType().getElementType(); }
    /// The size, or its name.
    std::string sizeText(int64_t dim) const;
  }];
}

// --- picture ---

def Attn_PictureAttr : Attn_Attr<"Picture", "picture"> {
  let summary = "what the results of a function of steps are";
  let description = [{
    A function with the attribute `attn.picture` computes the steps of another
    one's attention, for the page of a program's --lab. `ports` are the numbers
    of the arguments or, counted behind these, results that are query, key,
    value, raw, scaled and masked scores, weights and out, of which several may
    be one. The tiles, and the bounds of the loops over them, are those of the
    other function; they are known once it has schedules.
  }];
  let parameters = (ins "::mlir::DenseI64ArrayAttr":$ports,
      "::mlir::FloatAttr":$scale,
      "::attn::NormalizationAttr":$normalization,
      DefaultValuedParameter<"int64_t", "0">:$query_tile,
      DefaultValuedParameter<"int64_t", "0">:$key_tile,
      StringRefParameter<"lines", "\"\"">:$bounds);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// The function's attribute.
    static constexpr ::llvm::StringLiteral functionAttr = "attn.picture";
    /// That of `function`; null where it is no function of steps.
    static PictureAttr of(::mlir::Operation *function) {
      return function->getAttrOfType<PictureAttr>(functionAttr);
    }
  }];
}

#endif
