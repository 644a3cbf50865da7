// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// If. Of what follows from constants and sizes, one branch is left when the
// model has been read: exporters write it around questions about sizes, such as
// whether there is a past. Else both become an scf.if.
#include "Body.h"
#include "OperatorTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn::onnx;

/// Ends `block` with its branch's results as both branches give them.
static void yieldFrom(TensorBuilder &t, Block &block, Tensors &results,
                      ArrayRef<Type> types) {
  t.b.setInsertionPointToEnd(&block);
  SmallVector<Value> yields;
  for (auto [result, type] : llvm::zip_equal(results, types)) {
    Value value = t.value(result);
    if (value.getType() != type)
      value = tensor::CastOp::create(t.b, t.loc, type, value);
    yields.push_back(value);
  }
  scf::YieldOp::create(t.b, t.loc, yields);
}

/// The sizes that do not depend on the branch; others are left out.
static SmallVector<std::optional<Size>> commonSizes(const Sizes &sizes,
                                                    const Tensor &a,
                                                    const Tensor &b,
                                                    unsigned mark) {
  SmallVector<std::optional<Size>> common;
  for (auto [left, right] : llvm::zip_equal(a.shape, b.shape)) {
    bool isOne = left == right && sizes.isOlder(left, mark);
    common.push_back(isOne ? std::optional(left) : std::nullopt);
  }
  return common;
}

/// Both branches, of which one runs.
static LogicalResult importBoth(Node &node) {
  TensorBuilder &t = node.build();
  Tensor &condition = node.input(0);
  unsigned mark = t.sizes.count();
  Value isTrue = elementOf(t, condition);
  OpBuilder::InsertionGuard guard(t.b);
  // The types of its results are known when the branches have been read.
  Region regions[2];
  std::optional<Tensors> branches[2];
  for (unsigned i : {0, 1}) {
    OpBuilder::InsertionGuard inner(t.b);
    t.b.createBlock(&regions[i]);
    branches[i] = importBody(node, i == 0 ? "then_branch" : "else_branch", {});
    if (!branches[i])
      return failure();
  }
  SmallVector<Type> types;
  SmallVector<SmallVector<std::optional<Size>>> sizes;
  for (auto [a, b] : llvm::zip_equal(*branches[0], *branches[1])) {
    if (a.element != b.element || a.rank() != b.rank())
      return node.fail("expects branches that give tensors of one type and "
                       "rank, but got " +
                       describe(a) + " and " + describe(b));
    sizes.push_back(commonSizes(t.sizes, a, b, mark));
    SmallVector<int64_t> dims;
    for (const std::optional<Size> &size : sizes.back())
      dims.push_back(size && size->constant() ? *size->constant()
                                              : ShapedType::kDynamic);
    types.push_back(RankedTensorType::get(dims, a.element));
  }
  auto both = scf::IfOp::create(t.b, t.loc, types, isTrue,
                                /*addThenBlock=*/false, /*addElseBlock=*/false);
  both.getThenRegion().takeBody(regions[0]);
  both.getElseRegion().takeBody(regions[1]);
  yieldFrom(t, both.getThenRegion().front(), *branches[0], types);
  yieldFrom(t, both.getElseRegion().front(), *branches[1], types);
  t.b.setInsertionPointAfter(both);
  for (auto [i, value] : llvm::enumerate(both.getResults())) {
    Shape shape;
    for (auto [d, size] : llvm::enumerate(sizes[i]))
      shape.push_back(size ? *size
                           : t.unknown(tensor::DimOp::create(
                                 t.b, t.loc, value, static_cast<int64_t>(d))));
    node.setOutput(i, computed(value, shape));
  }
  return success();
}

static LogicalResult importIf(Node &node) {
  Tensor &condition = node.input(0);
  if (!isOne(condition, 1))
    return node.fail("expects one BOOL, but got " + describe(condition));
  auto known = dyn_cast_or_null<DenseIntElementsAttr>(condition.constant);
  if (!known)
    return importBoth(node);
  bool isTrue = !(*known.begin()).isZero();
  auto results = importBody(node, isTrue ? "then_branch" : "else_branch", {});
  if (!results)
    return failure();
  for (auto [i, result] : llvm::enumerate(*results))
    node.setOutput(i, result);
  return success();
}

ArrayRef<Operator> attn::onnx::ifOperators() {
  static const Operator all[] = {
      {"", "If", importIf, 1, 1},
  };
  return all;
}
