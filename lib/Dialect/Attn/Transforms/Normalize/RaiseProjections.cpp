// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products of linalg become projections, which have fast kernels.
//
// Before:  %zero = linalg.fill ins(%c0) outs(%empty)
//          %y = linalg.matmul ins(%x, %w) outs(%zero)
// After:   %y = attn.project %x, %w
//
// Before:  %start = linalg.broadcast ins(%b) outs(%empty) dimensions = [0]
//          %y = linalg.matmul ins(%x, %w) outs(%start)
// After:   %y = attn.project %x, %w, %b
//
// Sums that begin elsewhere are added behind:
//
// Before:  %y = linalg.matmul ins(%x, %w) outs(%c)
// After:   %p = attn.project %x, %w
//          %y = arith.addf %p, %c
//
// Any op that multiplies matrices is taken: linalg.matmul and batch_matmul with
// any indexing maps, and a linalg.generic of that form. The dimensions of the
// result say which operand is the input (that with its rows) and which the
// weight. A weight may be transposed, one for all or one per batch entry. A
// linalg.transpose of the last two dimensions in front of a weight, that of a
// projection too, is read through, and so is a linalg.broadcast of one matrix
// to all batch entries. Several batch dimensions are joined to one.
//
// What stays linalg gets a remark: products of integers, on buffers, transposed
// or broadcast inputs, weights for some of the batch dimensions, more than one
// of these of unknown size.
//
// Before: any level. After: the same, with fewer linalg ops.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"

namespace attn {
#define GEN_PASS_DEF_RAISEPROJECTIONS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// Where the sums of a product begin: at 0, at a bias per column, elsewhere.
struct Start {
  Value bias, elsewhere;
};

/// A product that can become a projection.
struct Product {
  Value input, weight;
  bool transposed = false;
  Start start;
  size_t batches = 0;       ///< dimensions
  bool ofEachBatch = false; ///< the weight, not one for all
};

/// Either a product or why there is none.
struct Match {
  Product product;
  StringRef reason;
};

/// Dimensions of the loops. Batches are those of the result in front.
struct Roles {
  SmallVector<unsigned> batches;
  unsigned row, column, depth;

  /// Whether `map` gives the batches (if `batched`) and two dimensions.
  bool reads(AffineMap map, bool batched, unsigned first,
             unsigned second) const {
    SmallVector<unsigned> dims;
    if (batched)
      dims = batches;
    dims.append({first, second});
    return map == AffineMap::getMultiDimMapWithTargets(map.getNumDims(), dims,
                                                       map.getContext());
  }
};
} // namespace

static Start startOf(Value init) {
  if (matchPattern(init, m_AnyZeroFloat()))
    return {};
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    if (matchPattern(fill.value(), m_AnyZeroFloat()))
      return {};
  auto broadcast = init.getDefiningOp<linalg::BroadcastOp>();
  bool isBias =
      broadcast &&
      cast<ShapedType>(broadcast.getInput().getType()).getRank() == 1 &&
      !llvm::is_contained(broadcast.getDimensions(),
                          cast<ShapedType>(init.getType()).getRank() - 1);
  if (isBias)
    return {broadcast.getInput(), {}};
  return {{}, init};
}

/// The dimensions by the map of the result.
static std::optional<Roles> rolesOf(linalg::LinalgOp op) {
  AffineMap result = op.getIndexingMapsArray().back();
  unsigned rank = result.getNumResults();
  if (op.getNumLoops() != rank + 1 || rank < 2 ||
      !result.isProjectedPermutation())
    return std::nullopt;
  Roles roles;
  for (unsigned i = 0; i + 2 < rank; ++i)
    roles.batches.push_back(result.getDimPosition(i));
  roles.row = result.getDimPosition(rank - 2);
  roles.column = result.getDimPosition(rank - 1);
  for (unsigned dim = 0; dim <= rank; ++dim)
    if (!result.isFunctionOfDim(dim))
      roles.depth = dim;
  return roles;
}

static bool isFloat(Type type) {
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
}

static StringRef misfit(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return "it works on buffers";
  Type element = getElementTypeOrSelf(op.getDpsInits()[0]);
  for (Value operand : op.getDpsInputs()) {
    Type other = getElementTypeOrSelf(operand);
    if (!isFloat(other) || !isFloat(element) ||
        other.isF64() != element.isF64())
      return "its operands are not all of f64, or of f16, bf16 and f32";
  }
  return {};
}

static Match match(linalg::LinalgOp op) {
  if (StringRef reason = misfit(op); !reason.empty())
    return {{}, reason};
  std::optional<Roles> roles = rolesOf(op);
  if (!roles)
    return {{}, "its result has no rows and columns"};
  // Joined, two that differ could be as many together.
  auto sizes = cast<ShapedType>(op.getDpsInits()[0].getType()).getShape();
  if (llvm::count(sizes.drop_back(2), ShapedType::kDynamic) > 1)
    return {{}, "several of its batch dimensions are of unknown size"};
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  unsigned first = 0; // the operand with the rows
  if (!maps[0].isFunctionOfDim(roles->row))
    first = 1;
  AffineMap input = maps[first], weight = maps[1 - first];
  if (!roles->reads(input, true, roles->row, roles->depth))
    return {{}, "its input is transposed or broadcast"};
  bool batched = llvm::any_of(roles->batches, [&](unsigned batch) {
    return weight.isFunctionOfDim(batch);
  });
  bool transposed = roles->reads(weight, batched, roles->column, roles->depth);
  if (!transposed &&
      !roles->reads(weight, batched, roles->depth, roles->column))
    return {{}, "its weight is no matrix"};
  return {{op.getDpsInputs()[first], op.getDpsInputs()[1 - first], transposed,
           startOf(op.getDpsInits()[0]), roles->batches.size(), batched},
          {}};
}

/// The weight in front of transposes of its matrices, and of what repeats one
/// for all batch entries.
static void readThroughViews(Value &weight, bool &transposed) {
  while (true) {
    auto broadcast = weight.getDefiningOp<linalg::BroadcastOp>();
    if (broadcast && broadcast.getDimensions() == ArrayRef<int64_t>{0} &&
        cast<ShapedType>(weight.getType()).getRank() == 3) {
      weight = broadcast.getInput();
      continue;
    }
    auto op = weight.getDefiningOp<linalg::TransposeOp>();
    if (!op)
      return;
    auto order = llvm::to_vector(op.getPermutation());
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    if (!llvm::is_sorted(order))
      return;
    weight = op.getInput();
    transposed = !transposed;
  }
}

/// The groups in which `batches` dimensions are one, and two others.
static SmallVector<ReassociationIndices> oneBatch(size_t batches) {
  ReassociationIndices all =
      llvm::to_vector<2>(llvm::seq(static_cast<int64_t>(batches)));
  auto row = static_cast<int64_t>(batches);
  return {all, {row}, {row + 1}};
}

static Value projection(IRRewriter &rewriter, Location loc,
                        const Product &product, Type type) {
  return ProjectOp::create(rewriter, loc, type, product.input, product.weight,
                           product.transposed, product.start.bias,
                           /*schedule=*/ScheduleInterface(),
                           /*few_rows_schedule=*/ScheduleInterface());
}

/// The same with one batch dimension, taken apart again.
static Value joinedProjection(IRRewriter &rewriter, Location loc,
                              Product product, Value init) {
  SmallVector<ReassociationIndices> groups = oneBatch(product.batches);
  auto join = [&](Value value) {
    return tensor::CollapseShapeOp::create(rewriter, loc, value, groups);
  };
  product.input = join(product.input);
  if (product.ofEachBatch)
    product.weight = join(product.weight);
  auto type = cast<RankedTensorType>(init.getType());
  Type joined = tensor::CollapseShapeOp::inferCollapsedType(type, groups);
  return tensor::ExpandShapeOp::create(
      rewriter, loc, type, projection(rewriter, loc, product, joined), groups,
      tensor::getMixedSizes(rewriter, loc, init));
}

static void raise(linalg::LinalgOp op, IRRewriter &rewriter) {
  auto [product, reason] = match(op);
  if (!reason.empty()) {
    remark::missed(op.getLoc(), remark::RemarkOpts::name("NotAProjection")
                                    .category("attn-raise-projections"))
        << (op->getName().getStringRef() + " stays: " + reason).str();
    return;
  }
  rewriter.setInsertionPoint(op);
  readThroughViews(product.weight, product.transposed);
  Value init = op.getDpsInits()[0];
  Value result =
      product.batches > 1
          ? joinedProjection(rewriter, op.getLoc(), product, init)
          : projection(rewriter, op.getLoc(), product, init.getType());
  if (product.start.elsewhere)
    result = arith::AddFOp::create(rewriter, op.getLoc(), result,
                                   product.start.elsewhere);
  rewriter.replaceOp(op, result);
}

static bool isProduct(linalg::LinalgOp op) {
  return isa<linalg::MatmulOp, linalg::BatchMatmulOp>(op) ||
         (isa<linalg::GenericOp, linalg::ContractOp>(op) &&
          op.getNumDpsInputs() == 2 && op.getNumLoops() >= 3 &&
          linalg::isaContractionOpInterface(op));
}

namespace {
struct RaiseProjections : attn::impl::RaiseProjectionsBase<RaiseProjections> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (isProduct(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops)
      raise(op, rewriter);
    getOperation()->walk([&](ProjectOp op) {
      Value weight = op.getWeight();
      bool transposed = op.getTransposed();
      readThroughViews(weight, transposed);
      op.getWeightMutable().assign(weight);
      op.setTransposed(transposed);
    });
  }
};
} // namespace
