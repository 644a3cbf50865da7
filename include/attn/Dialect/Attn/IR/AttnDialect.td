// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_DIALECT_TD
#define ATTN_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::attn";
  let summary = "Attention, from the textbook steps to tiles of online softmax";
  let description = [{
    Three levels. *Graph* ops are one textbook step each (`attn.scores`,
    `attn.scale`, `attn.mask`, `attn.bias`, `attn.softmax`, `attn.context`,
    `attn.project`, `attn.split_heads`, `attn.merge_heads`). The *fused* op
    `attn.sdpa` means the same as a chain of them. *Tile* ops (`attn.init_state`,
    `attn.online`, `attn.merge`, `attn.finalize`, `attn.weigh`,
    `attn.project_tile`) are what a kernel does with one tile.
    `docs/Spec.md` defines every op; its constraint numbers stand beside the
    checks here.
  }];
  // What terms emit to read their operands, and what predicates are made of.
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::tensor::TensorDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Of an attn.rope: its tables have a row for each of its rows, or for each
    /// batch entry and row. Of a tensor.extract in a score function: where an
    /// index is one of the pair's, the tensor is as large as the scores.
    static constexpr ::llvm::StringLiteral rowForRowAttr = "attn.row_for_row";
    /// On a function that was read from a model: the lowest finite number of a
    /// type excludes a pair, as its exporter means it. A unit attribute.
    static constexpr ::llvm::StringLiteral lowestExcludesAttr =
        "attn.lowest_excludes";
  }];
}

class Attn_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Attn_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

#endif
