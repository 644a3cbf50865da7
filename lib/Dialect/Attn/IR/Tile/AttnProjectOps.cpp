// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers and effects of the tile ops of projections. Numbers are those of
// docs/SpecTiles.md.
#include "Checks.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

/// Panels (P x K x W) hold `columns` columns, of which only the last panel may
/// lack some. The rows of pairs are those of two rows of the weight.
static LogicalResult verifyPanels(Operation *op, CPUScheduleAttr schedule,
                                  ShapedType type, int64_t columns) {
  int64_t panels = type.getDimSize(0), panel = schedule.getQueryBlock();
  if (type.getDimSize(2) != schedule.getPanelWidth())
    return op->emitOpError()
           << "expects panels of the schedule's " << panel
           << (schedule.usesDot() ? " columns, in pairs, but got "
                                  : " columns, but got ")
           << type;
  if (!ShapedType::isDynamic(columns) && !ShapedType::isDynamic(panels) &&
      panels != static_cast<int64_t>(llvm::divideCeil(columns, panel)))
    return op->emitOpError() << "expects as many panels as hold " << columns
                             << " columns, but got " << type;
  return success();
}

/// Whether the panels may be those of a weight of `depth` rows.
static bool holdsRows(CPUScheduleAttr schedule, ShapedType panels,
                      int64_t depth) {
  return panels.isDynamicDim(1) || ShapedType::isDynamic(depth) ||
         panels.getDimSize(1) == schedule.getPanelRows(depth);
}

LogicalResult PackPanelsOp::verify() {
  if (failed(expectMatrix(*this, "the weight", getWeight(),
                          ShapedType::kDynamic))) // C1
    return failure();
  auto weight = cast<ShapedType>(getWeight().getType()),
       panels = cast<ShapedType>(getPanels().getType());
  int64_t depth = weight.getDimSize(getTransposed()),
          columns = weight.getDimSize(!getTransposed());
  if (panels.getRank() != 3 || !holdsRows(getSchedule(), panels, depth)) // C1
    return emitOpError() << "expects panels of as many rows as the weight has, "
                            "but got "
                         << panels << " for " << weight;
  if (failed(expectPairs(*this, getSchedule(), {getWeight()}))) // C5
    return failure();
  bool widens = panels.getElementType().isF32() && !getSchedule().usesDot() &&
                weight.getElementTypeBitWidth() < 32;
  if (panels.getElementType() != weight.getElementType() && !widens) // C2
    return emitOpError() << "expects panels of the weight's elements, or of "
                            "f32 for 16 bits, but got "
                         << panels << " for " << weight;
  return verifyPanels(*this, getSchedule(), panels, columns); // C3
  // C4 is the destination-style interface.
}
MutableOperandRange PackPanelsOp::getDpsInitsMutable() {
  return getPanelsMutable();
}
void PackPanelsOp::getEffects(Effects &effects) {
  tileEffects(*this, getDpsInitsMutable(), effects);
}

/// A weight and out have the same columns.
static LogicalResult verifyWeight(ProjectTileOp op) {
  auto weight = cast<ShapedType>(op.getWeight().getType());
  int64_t unknown = ShapedType::kDynamic;
  if (weight.getRank() == 3 && op.getTransposed()) // C7
    return op.emitOpError("expects panels that are not transposed");
  if (weight.getRank() == 3) {
    int64_t columns = cast<ShapedType>(op.getOut().getType()).getDimSize(1);
    bool pairs = op.getSchedule().usesDot();
    if (failed(expectMatrix(op, "the input", op.getInput(),
                            pairs ? unknown : weight.getDimSize(1))) || // C1
        failed(expectMatrix(op, "out", op.getOut(), unknown)) ||        // C1
        failed(verifyPanels(op, op.getSchedule(), weight, columns)))    // C5
      return failure();
    int64_t depth = cast<ShapedType>(op.getInput().getType()).getDimSize(1);
    if (!holdsRows(op.getSchedule(), weight, depth)) // C5
      return op.emitOpError() << "expects panels that hold " << depth
                              << " rows in pairs, but got " << weight;
    return success();
  }
  if (failed(expectMatrix(op, "the weight", op.getWeight(), unknown))) // C1
    return failure();
  return failure(
      failed(expectMatrix(op, "the input", op.getInput(),
                          weight.getDimSize(op.getTransposed()))) || // C1
      failed(expectMatrix(op, "out", op.getOut(),
                          weight.getDimSize(!op.getTransposed())))); // C1
}

mlir::Block *ProjectTileOp::getEpilogueBlock() {
  return getEpilogue().empty() ? nullptr : &getEpilogue().front().front();
}

/// What an epilogue captures has an argument each, behind the sum.
template <typename TileOp>
static LogicalResult verifyCaptures(TileOp op, mlir::Block &block) {
  auto out = cast<ShapedType>(op.getOut().getType());
  for (auto [capture, argument] :
       llvm::zip_equal(op.getCaptures().getTypes(),
                       TypeRange(block.getArgumentTypes()).drop_front())) {
    auto type = cast<ShapedType>(capture);
    int64_t rank = type.getRank();
    if ((rank == 1 || rank == 2) && type.getElementType() == argument &&
        succeeded(verifyCompatibleShape(type.getShape(),
                                        out.getShape().take_back(rank))))
      continue;
    return op.emitOpError() << "expects an epilogue to capture matrices like "
                               "out and rows of it, but got "
                            << type << " as " << argument;
  }
  return success();
}

template <typename TileOp> static LogicalResult verifyEpilogue(TileOp op) {
  mlir::Block *block = op.getEpilogueBlock();
  if (!block)
    return op.getCaptures().empty()
               ? success()
               : op.emitOpError("expects an epilogue where there are captures");
  Type out = cast<ShapedType>(op.getOut().getType()).getElementType();
  auto yield = block->mightHaveTerminator()
                   ? dyn_cast<YieldOp>(block->getTerminator())
                   : YieldOp();
  size_t wanted = 1 + op.getCaptures().size();
  if (block->getNumArguments() != wanted ||
      !isa<FloatType>(block->getArgument(0).getType()) || !yield ||
      yield->getNumOperands() != 1 || yield->getOperand(0).getType() != out)
    return op.emitOpError() << "expects an epilogue of a sum and " << wanted - 1
                            << " captured numbers that yields " << out;
  return verifyCaptures(op, *block);
}

LogicalResult ProjectTileOp::verify() {
  auto out = cast<ShapedType>(getOut().getType());
  if (failed(verifyWeight(*this)))
    return failure();
  int64_t rows = cast<ShapedType>(getInput().getType()).getDimSize(0),
          outRows = out.getDimSize(0);
  if (rows != outRows && !ShapedType::isDynamic(rows) &&
      !ShapedType::isDynamic(outRows)) // C2
    return emitOpError()
           << "expects a row of out per row of the input, but got " << outRows
           << " and " << rows;
  CPUScheduleAttr schedule = getSchedule();
  // An unknown number of rows may be few, whose tiles are wider.
  int64_t most = schedule.getQueryTile(),
          wide = outRows <= schedule.getFewRows() ? schedule.getWideColumnTile()
                                                  : schedule.getColumnTile();
  if (out.getDimSize(0) > most || out.getDimSize(1) > wide) // C8
    return emitOpError() << "expects at most " << most << " rows and " << wide
                         << " columns, but got " << out;
  if (failed(expectPairs(*this, schedule, {getInput(), getWeight()}))) // C6
    return failure();
  if (failed(verifyEpilogue(*this))) // C9
    return failure();
  if (!getBias())
    return success();
  auto bias = cast<ShapedType>(getBias().getType());
  int64_t columns = out.getDimSize(1);
  if (bias.getRank() != 1 ||
      (bias.getDimSize(0) != columns && !bias.isDynamicDim(0) &&
       !ShapedType::isDynamic(columns))) // C3
    return emitOpError()
           << "expects the bias to have one element per column of "
              "the weight, but got "
           << bias;
  return success(); // C4 is the destination-style interface.
}
MutableOperandRange ProjectTileOp::getDpsInitsMutable() {
  return getOutMutable();
}
void ProjectTileOp::getEffects(Effects &effects) {
  tileEffects(*this, getDpsInitsMutable(), effects);
}

mlir::Block *ProjectBlockOp::getEpilogueBlock() {
  return getEpilogue().empty() ? nullptr : &getEpilogue().front().front();
}

int64_t ProjectBlockOp::getDepth() {
  return cast<ShapedType>(getWeight().getType()).getDimSize(getTransposed());
}

LogicalResult ProjectBlockOp::verify() {
  if (failed(expectMatrix(*this, "the weight", getWeight(),
                          ShapedType::kDynamic))) // C1
    return failure();
  auto weight = cast<ShapedType>(getWeight().getType());
  int64_t depth = getDepth(), columns = weight.getDimSize(!getTransposed());
  if (failed(expectMatrix(*this, "the input", getInput(), depth)) || // C1
      failed(expectMatrix(*this, "out", getOut(), columns)))         // C1
    return failure();
  if (!weight.hasStaticShape() || depth < 1 || columns < 1 ||
      columns > getSchedule().getKeyTile()) // C2
    return emitOpError() << "expects a weight of known size that has at most "
                         << getSchedule().getKeyTile() << " columns, but got "
                         << weight;
  Type element = weight.getElementType();
  if (element != getElementTypeOrSelf(getInput()) ||
      !(element.isF16() || element.isBF16() || element.isF32())) // C3
    return emitOpError() << "expects input and weight of f16, bf16 or f32, but "
                            "got "
                         << getInput().getType() << " and " << weight;
  if (failed(verifyEpilogue(*this))) // C6
    return failure();
  if (!getBias())
    return success();
  auto bias = cast<ShapedType>(getBias().getType());
  if (bias.getRank() != 1 || bias.getDimSize(0) != columns) // C4
    return emitOpError() << "expects the bias to have one element per column "
                            "of the weight, but got "
                         << bias;
  return success(); // C5 is the destination-style interface.
}
MutableOperandRange ProjectBlockOp::getDpsInitsMutable() {
  return getOutMutable();
}
void ProjectBlockOp::getEffects(Effects &effects) {
  tileEffects(*this, getDpsInitsMutable(), effects);
}
