// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TYPES_TD
#define ATTN_TYPES_TD

include "attn/Dialect/Attn/IR/AttnDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Attn_KindEnum : I32EnumAttr<"Kind", "what the lanes of a kernel hold",
    [I32EnumAttrCase<"Prefill", 0, "prefill">,
     I32EnumAttrCase<"Decode", 1, "decode">]> {
  let cppNamespace = "::attn";
}
def Attn_KindParameter : EnumParameter<Attn_KindEnum> {
  let defaultValue = "::attn::Kind::Prefill";
}

def Attn_ProductsEnum : I32EnumAttr<"Products", "how a kernel multiplies",
    [I32EnumAttrCase<"Fma", 0, "fma">,
     I32EnumAttrCase<"Dot", 1, "dot">,
     I32EnumAttrCase<"Amx", 2, "amx">]> {
  let cppNamespace = "::attn";
}
def Attn_ProductsParameter : EnumParameter<Attn_ProductsEnum> {
  let defaultValue = "::attn::Products::Fma";
}
def Attn_NormalizationEnum : I32EnumAttr<"Normalization",
    "how scores become weights",
    [I32EnumAttrCase<"Softmax", 0, "softmax">,
     I32EnumAttrCase<"Sigmoid", 1, "sigmoid">]> {
  let cppNamespace = "::attn";
  let genSpecializedAttr = 0;
}
def Attn_NormalizationParameter : EnumParameter<Attn_NormalizationEnum> {
  let defaultValue = "::attn::Normalization::Softmax";
}

def Attn_StateType : TypeDef<Attn_Dialect, "State"> {
  let mnemonic = "state";
  let summary = "attention of a tile of queries, as far as it has come";
  let description = [{
    For up to `rows` queries of `key_dim` elements: the scaled queries, the
    running maximum m and sum l of each row, and the unnormalised context acc of
    `value_dim` elements per row. Statistics have type `element`. A state is
    used once: the op that takes it returns the next one. `kind` is that of the
    schedules of all ops that touch it. A state by `sigmoid` has neither maximum
    nor sum, and acc is the context.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$key_dim,
                        "int64_t":$value_dim, "::mlir::Type":$element,
                        Attn_KindParameter:$kind,
                        Attn_NormalizationParameter:$normalization);
  let assemblyFormat = [{
    `<` $rows `x` $key_dim `x` $value_dim `,` $element (`,` $kind^)?
    (`by` $normalization^)? `>`
  }];
  let builders = [TypeBuilder<(ins "int64_t":$rows, "int64_t":$key_dim,
      "int64_t":$value_dim, "::mlir::Type":$element, "::attn::Kind":$kind), [{
    return $_get($_ctxt, rows, key_dim, value_dim, element, kind,
                 ::attn::Normalization::Softmax);
  }]>];
  let genVerifyDecl = 1;
}

def Attn_GradStateType : TypeDef<Attn_Dialect, "GradState"> {
  let mnemonic = "grad_state";
  let summary = "gradient of a tile of queries, as far as it has come";
  let description = [{
    For up to `rows` queries of `key_dim` elements: the scaled queries and their
    gradient, the scaled cotangents of the context, of `value_dim` elements, and
    two numbers per row. All have type `element`. Steps change it in place.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$key_dim,
                        "int64_t":$value_dim, "::mlir::Type":$element);
  let assemblyFormat = "`<` $rows `x` $key_dim `x` $value_dim `,` $element `>`";
  let genVerifyDecl = 1;
}

#endif
