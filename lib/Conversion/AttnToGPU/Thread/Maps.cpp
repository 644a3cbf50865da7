// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The region is written once for each register, column by column: what follows
// from a column, such as a place in a bias or a part of a mask, is used by the
// few rows of the thread and then no longer. Row by row, it would lie in
// registers for all columns.
#include "Maps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpucode;
using tile::FragmentType;
using tile::RowsType;

/// What an op with one result computes of constants; null if it does not.
static Value fold(ThreadBuilder &t, Operation &op, const IRMapping &mapping) {
  SmallVector<Attribute> constants;
  for (Value operand : op.getOperands())
    if (!matchPattern(mapping.lookupOrDefault(operand),
                      m_Constant(&constants.emplace_back())))
      return {};
  SmallVector<OpFoldResult> results;
  if (op.getNumResults() != 1 || constants.empty() ||
      failed(op.fold(constants, results)) || results.size() != 1)
    return {};
  auto value = dyn_cast<Attribute>(results[0]);
  Operation *constant = value
                            ? op.getDialect()->materializeConstant(
                                  t.b, value, op.getResult(0).getType(), t.loc)
                            : nullptr;
  return constant ? constant->getResult(0) : Value();
}

Value gpucode::emitElement(ThreadBuilder &t, Block &body,
                           ValueRange arguments) {
  IRMapping mapping;
  mapping.map(ValueRange(body.getArguments()), arguments);
  for (Operation &op : body.without_terminator()) {
    if (Value constant = fold(t, op, mapping))
      mapping.map(op.getResult(0), constant);
    else
      t.b.clone(op, mapping);
  }
  auto yield = cast<tile::YieldOp>(body.getTerminator());
  return mapping.lookupOrDefault(yield.getValue());
}

/// Registers of a fragment, those of a column behind each other.
static SmallVector<int64_t> byColumns(const FragmentShape &shape) {
  SmallVector<int64_t> registers;
  for (int64_t column = 0; column < shape.columnBlocks; ++column)
    for (int64_t odd : {0, 1})
      for (int64_t row = 0; row < shape.rowBlocks; ++row)
        for (int64_t low : {0, 2})
          registers.push_back(shape.block(row, column) + low + odd);
  return registers;
}

Values gpucode::emitMap(ThreadBuilder &t, tile::MapOp op,
                        ArrayRef<ValueRange> operands) {
  std::optional<FragmentShape> shape;
  SmallVector<int64_t> registers;
  if (auto fragment = dyn_cast<FragmentType>(op.getType())) {
    shape.emplace(fragment);
    registers = byColumns(*shape);
  } else {
    registers = llvm::to_vector(llvm::seq(rowsOfThread(op.getType())));
  }
  Values results(registers.size());
  for (int64_t reg : registers) {
    Place distance;
    if (shape)
      distance = shape->distance(reg);
    Values arguments;
    for (auto [type, values] : llvm::zip_equal(op.getOperandTypes(), operands))
      arguments.push_back(
          values[shape && isa<RowsType>(type) ? shape->row(reg) : reg]);
    arguments.push_back(t.index(distance.row));
    arguments.push_back(t.index(distance.column));
    results[reg] = emitElement(t, op.getBody().front(), arguments);
  }
  return results;
}
