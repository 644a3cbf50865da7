// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_INTERFACES_TD
#define ATTN_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Attn_MaskTermInterface : AttrInterface<"MaskTermInterface"> {
  let cppNamespace = "::attn";
  let description = [{
    A term of a mask, or a combination of terms. A term says which (query, key)
    pairs are visible by giving one formula; predicate code and loop bounds are
    derived from the formula, never written by hand.

    A term may read operands of the op it stands on. It names them by position
    in the op's mask operands.
  }];
  let methods = [
    InterfaceMethod<"The formula that a visible (query, key) pair satisfies.",
      "::attn::Formula", "formula", (ins "::attn::MaskContext &":$context)>,
    InterfaceMethod<"Writes the term as it stands after `where`.",
      "void", "printTerm",
      (ins "::mlir::OpAsmPrinter &":$printer, "::mlir::OperandRange":$operands)>,
    InterfaceMethod<"Positions of the mask operands that the term reads.",
      "::llvm::SmallVector<unsigned>", "operandPositions", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return ::attn::operandPositionsIn($_attr);
      }]>,
    InterfaceMethod<"The same term with every operand position replaced.",
      "::mlir::Attribute", "mapOperands",
      (ins "::llvm::function_ref<unsigned(unsigned)>":$map),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return ::attn::mapOperandsIn($_attr, map);
      }]>,
    InterfaceMethod<[{
        Emits the answer of an opaque literal of this term's formula, an i1, for
        one pair. `arguments` are the literal's arguments. Null for terms whose
        formula has no such literal.
      }],
      "::mlir::Value", "emitOpaque",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "const ::attn::PairPlace &":$place,
           "::mlir::ValueRange":$arguments),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        (void)builder, (void)loc, (void)place, (void)arguments;
        return ::mlir::Value();
      }]>,
    InterfaceMethod<[{
        What each mask operand is that the term reads. Sizes, checks and what a
        tile gets of them follow from it.
      }],
      "::llvm::SmallVector<::attn::MaskOperand>", "describeOperands", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return ::attn::numbersIn($_attr);
      }]>,
    InterfaceMethod<
      "Checks the types of the operands against the scores' shape.",
      "::llvm::LogicalResult", "verifyOperands",
      (ins "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError,
           "::mlir::TypeRange":$operandTypes,
           "::llvm::ArrayRef<int64_t>":$scoresShape),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return ::attn::verifyMaskOperands(emitError, $_attr.getMnemonic(),
                                          $_attr.describeOperands(),
                                          operandTypes, scoresShape);
      }]>,
  ];
}

def Attn_ScheduleInterface : AttrInterface<"ScheduleInterface"> {
  let cppNamespace = "::attn";
  let description = [{
    How an attention is cut into items and steps: what the tilings ask of a
    schedule, whatever the target. How a step is computed is a back end's own,
    and stands in its form of the schedule.
  }];
  let methods = [
    InterfaceMethod<"Whether it is for many queries per head, or for few.",
      "::attn::Kind", "getKind">,
    InterfaceMethod<"How kernels multiply.",
      "::attn::Products", "getProducts">,
    InterfaceMethod<"Query rows of an item.", "int64_t", "getQueryTile">,
    InterfaceMethod<"Keys of a step.", "int64_t", "getKeyTile">,
    InterfaceMethod<"Keys of an item, a multiple of the step's; 0 for all.",
      "int64_t", "getSplitKeys">,
    InterfaceMethod<[{
        The most queries per head for which kind prefill splits keys.
      }], "int64_t", "getSplitQueries">,
    InterfaceMethod<"A number that the head dimensions are multiples of.",
      "int64_t", "getFeatureMultiple">,
    InterfaceMethod<"Whether an item is a block of a GPU's threads.",
      "bool", "runsInBlocks">,
  ];
  let extraSharedClassDeclaration = [{
    /// Whether kernels keep queries and weights in pairs of bf16.
    bool usesDot() const {
      return $_attr.getProducts() != ::attn::Products::Fma;
    }
  }];
}

#endif
