// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Pipelines/Explain.h"
#include "attn/Analysis/MaskBounds.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/IR/MaskTerms.h"
#include "attn/Dialect/Attn/Utils/DecodeRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

static std::string positionOf(Location location) {
  auto at = location->findInstanceOf<FileLineColLoc>();
  if (!at)
    return "an unknown place";
  return (at.getFilename().getValue() + ":" + Twine(at.getLine()) + ":" +
          Twine(at.getColumn()))
      .str();
}

namespace {
struct Collector : remark::detail::MLIRRemarkStreamerBase {
  std::vector<std::string> &lines;

  explicit Collector(std::vector<std::string> &lines) : lines(lines) {}
  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    // [Passed] Fused | Category:attn-fuse | Remark="fused attn.scores, .."
    std::string message = remark.getMsg();
    StringRef text = StringRef(message).split("Remark=\"").second;
    lines.push_back(positionOf(remark.getLocation()) + ": " +
                    text.take_until([](char c) { return c == '"'; }).str());
  }
};

/// Sizes of one attention: Sq and Skv as text, and as numbers where known.
struct Length {
  std::string text = "?";
  std::optional<int64_t> value;
};

/// Explains the attentions of one function.
class KernelExplainer {
public:
  KernelExplainer(func::FuncOp function, const SymbolSizes &sizes,
                  llvm::raw_ostream &os)
      : function(function), sizes(sizes), os(os) {}

  void explain();

private:
  void ports(StringRef heading, bool input);
  void attention(SdpaOp op);
  void schedules(SdpaOp op, const Length &queries, const Length &keys);
  void keyTiles(SdpaOp op, ScheduleAttr schedule, int64_t queryTile,
                const Length &queries, const Length &keys);
  void projection(ProjectOp op);
  void counts(const KeyRanges &ranges, const Length &queries,
              const Length &keys);
  Length length(Value tensor, int64_t dim);

  func::FuncOp function;
  const SymbolSizes &sizes;
  llvm::raw_ostream &os;
};
} // namespace

LogicalResult attn::collectRemarks(MLIRContext &context,
                                   std::vector<std::string> &lines) {
  remark::RemarkCategories all;
  all.passed = all.missed = all.analysis = all.failed = ".*";
  return remark::enableOptimizationRemarks(
      context, std::make_unique<Collector>(lines),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), all);
}

static ArrayAttr portsOf(func::FuncOp function) {
  return function->getAttrOfType<ArrayAttr>("attn.ports");
}

void KernelExplainer::ports(StringRef heading, bool input) {
  SmallVector<std::string> texts;
  for (auto port : portsOf(function).getAsRange<DictionaryAttr>()) {
    if (cast<BoolAttr>(port.get("input")).getValue() != input)
      continue;
    auto known = cast<DenseI64ArrayAttr>(port.get("sizes")).asArrayRef();
    SmallVector<std::string> dims;
    for (auto [size, symbol] :
         llvm::zip(known, cast<ArrayAttr>(port.get("symbols"))))
      dims.push_back(size >= 0 ? std::to_string(size)
                               : cast<StringAttr>(symbol).str());
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << cast<StringAttr>(port.get("name")).getValue() << " ("
           << llvm::join(dims, ", ") << ") "
           << cast<RankedTensorType>(
                  cast<TypeAttr>(port.get("type")).getValue())
                  .getElementType();
    texts.push_back(text);
  }
  os << "  " << llvm::formatv("{0,-11}", heading) << llvm::join(texts, ", ")
     << "\n";
}

/// A size of a tensor, read off the arguments that it comes from.
Length KernelExplainer::length(Value tensor, int64_t dim) {
  int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  while (auto result = dyn_cast<OpResult>(tensor)) {
    OpBuilder builder(result.getOwner());
    ReifiedRankedShapedTypeDims shapes;
    if (!ShapedType::isDynamic(size) ||
        failed(reifyResultShapes(builder, result.getOwner(), shapes)))
      break;
    OpFoldResult from = shapes[result.getResultNumber()][dim];
    if (std::optional<int64_t> constant = getConstantIntValue(from)) {
      size = *constant;
      break;
    }
    auto source = cast<Value>(from).getDefiningOp<tensor::DimOp>();
    if (!source || !source.getConstantIndex())
      return {};
    tensor = source.getSource();
    dim = *source.getConstantIndex();
    size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  }
  if (!ShapedType::isDynamic(size))
    return {std::to_string(size), size};
  auto argument = dyn_cast<BlockArgument>(tensor);
  if (!argument)
    return {};
  auto port = cast<DictionaryAttr>(
      portsOf(function)[static_cast<size_t>(argument.getArgNumber())]);
  size = cast<DenseI64ArrayAttr>(port.get("sizes"))[dim];
  if (size >= 0)
    return {std::to_string(size), size};
  std::string symbol =
      cast<StringAttr>(cast<ArrayAttr>(port.get("symbols"))[dim]).str();
  for (const auto &[name, value] : sizes)
    if (name == symbol)
      return {symbol + " = " + std::to_string(value), value};
  return {symbol, std::nullopt};
}

/// Tiles visited, on the edge and skipped, by asking for each.
void KernelExplainer::counts(const KeyRanges &ranges, const Length &queries,
                             const Length &keys) {
  os << "    tiles     ";
  for (const MaskContext::Symbol &symbol : ranges.context.symbols())
    if (symbol.kind == MaskContext::SymbolKind::Operand ||
        symbol.kind == MaskContext::SymbolKind::Free) {
      os << "how many depends on " << symbol.name << " at run time\n";
      return;
    }
  if (!queries.value || !keys.value) {
    os << "how many depends on " << (queries.value ? keys : queries).text
       << "; give it with --dim\n";
    return;
  }
  int64_t queryTiles = llvm::divideCeil(*queries.value, ranges.tiles.query);
  int64_t keyTiles = llvm::divideCeil(*keys.value, ranges.tiles.key);
  int64_t visited = 0, edge = 0;
  SmallVector<int64_t> values(ranges.context.numValues(), 0);
  values[Variable::QueryLength] = *queries.value;
  values[Variable::KeyLength] = *keys.value;
  for (int64_t tile = 0; tile < queryTiles; ++tile) {
    values[Variable::QueryBegin] = tile * ranges.tiles.query;
    values[Variable::QueryEnd] =
        std::min((tile + 1) * ranges.tiles.query, *queries.value);
    for (int64_t kt = 0; kt < keyTiles; ++kt)
      if (contains(ranges.context, ranges.visit, values, kt)) {
        ++visited;
        edge += contains(ranges.context, ranges.notFull, values, kt);
      }
  }
  int64_t all = queryTiles * keyTiles;
  os << all << " of " << ranges.tiles.query << " queries and "
     << ranges.tiles.key << " keys: " << visited << " visited (" << edge
     << " with the mask tested per pair), " << all - visited << " skipped\n";
}

/// `use` says which lengths the schedule is for.
static void printSchedule(llvm::raw_ostream &os, ScheduleAttr schedule,
                          const Twine &use = "") {
  bool decode = schedule.getKind() == Kind::Decode;
  os << "    schedule  " << use << schedule.getQueryTile()
     << (decode ? " rows by " : " queries by ") << schedule.getKeyTile()
     << " keys per tile";
  if (decode)
    os << ", " << schedule.getSplitKeys() << " keys per item";
  os << "; register tile of " << schedule.getRows()
     << (decode ? " keys by 4 queries and 4 queries by " : " by ")
     << schedule.getVectors() << " vectors of " << schedule.getLanes()
     << " lanes\n";
}

/// The schedules with the lengths that each is for, then the tiles of those
/// that the lengths leave.
void KernelExplainer::schedules(SdpaOp op, const Length &queries,
                                const Length &keys) {
  ScheduleAttr many = op.getScheduleAttr(), few = op.getDecodeScheduleAttr();
  int64_t most = few ? mostDecodeQueries(op) : 0;
  auto lengths = [&](StringRef kind, StringRef relation) {
    return (kind +
            (many && few ? " where Sq " + relation + " " + std::to_string(most)
                         : std::string()) +
            ": ")
        .str();
  };
  if (many)
    printSchedule(os, many, few ? lengths("prefill", ">") : std::string());
  if (few)
    printSchedule(os, few, lengths("decode", "<="));
  bool known = queries.value.has_value();
  if (many && !(few && known && *queries.value <= most))
    keyTiles(op, many, many.getQueryTile(), queries, keys);
  if (few && !(many && known && *queries.value > most))
    keyTiles(op, few, most, queries, keys);
}

void KernelExplainer::keyTiles(SdpaOp op, ScheduleAttr schedule,
                               int64_t queryTile, const Length &queries,
                               const Length &keys) {
  MaskContext context;
  Formula formula = maskFormula(context, op.getMaskAttr());
  BoundsOptions options;
  options.ignoreRaggedTail = true;
  KeyRanges ranges = analyzeMask(context, formula,
                                 {queryTile, schedule.getKeyTile()}, options);
  counts(ranges, queries, keys);
  os << "    key tiles kt that the query rows [qlo, qhi) visit, and those that "
        "need the mask:\n";
  SmallVector<StringRef> lines;
  std::string text = toString(ranges);
  StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    os << "      " << line << "\n";
}

void KernelExplainer::attention(SdpaOp op) {
  Length queries = length(op.getQuery(), op.queryDims().sequence);
  Length keys = length(op.getKey(), op.keyDims().sequence);
  MaskContext context;
  Formula formula = maskFormula(context, op.getMaskAttr());
  os << "\n  attention at " << positionOf(op.getLoc()) << "\n"
     << "    lengths   Sq = " << queries.text << ", Skv = " << keys.text << "\n"
     << "    mask      row q sees key k if "
     << (op.getMaskAttr() ? context.toString(formula) : "always") << "\n";
  schedules(op, queries, keys);
}

void KernelExplainer::projection(ProjectOp op) {
  os << "\n  projection at " << positionOf(op.getLoc()) << "\n";
  printSchedule(os, op.getScheduleAttr());
}

void KernelExplainer::explain() {
  os << "function " << function.getName() << "\n";
  ports("arguments", /*input=*/true);
  ports("results", /*input=*/false);
  function.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](SdpaOp sdpa) { attention(sdpa); })
        .Case([&](ProjectOp project) { projection(project); });
  });
}

std::string attn::explainKernels(ModuleOp module, const SymbolSizes &sizes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  // Asking for a size leaves ops behind.
  OwningOpRef<ModuleOp> copy = module.clone();
  for (auto function : copy->getOps<func::FuncOp>())
    if (portsOf(function))
      KernelExplainer(function, sizes, os).explain();
  return text;
}

/// An index computation as a person writes it.
static std::string formulaText(Value value, ArrayAttr ports) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getArgNumber() >= ports.size() ? "threads" : "?";
  Operation *op = value.getDefiningOp();
  auto operand = [&](unsigned i) {
    return formulaText(op->getOperand(i), ports);
  };
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([&](arith::ConstantIndexOp constant) {
        return std::to_string(constant.value());
      })
      .Case([&](arith::AddIOp) { return operand(0) + " + " + operand(1); })
      .Case(
          [&](arith::SubIOp) { return operand(0) + " - (" + operand(1) + ")"; })
      .Case([&](arith::MulIOp product) {
        // A size rounded up to a multiple, so that the next one is aligned.
        auto quotient = product.getLhs().getDefiningOp<arith::DivUIOp>();
        auto sum = quotient ? quotient.getLhs().getDefiningOp<arith::AddIOp>()
                            : arith::AddIOp();
        if (sum && quotient.getRhs() == product.getRhs())
          return "roundup(" + formulaText(sum.getLhs(), ports) + ", " +
                 operand(1) + ")";
        auto factor = [&](unsigned i) {
          std::string text = operand(i);
          return StringRef(text).contains(" + ") ? "(" + text + ")" : text;
        };
        return factor(0) + "*" + factor(1);
      })
      .Case<arith::CeilDivUIOp, arith::CeilDivSIOp>(
          [&](auto) { return "ceil((" + operand(0) + ")/" + operand(1) + ")"; })
      .Case<arith::DivUIOp, arith::DivSIOp>([&](auto) {
        return "floor((" + operand(0) + ")/" + operand(1) + ")";
      })
      .Case<arith::MaxUIOp, arith::MaxSIOp>(
          [&](auto) { return "max(" + operand(0) + ", " + operand(1) + ")"; })
      .Case([&](arith::SelectOp) {
        std::string condition = operand(0), arms[] = {operand(1), operand(2)};
        return StringRef(condition).contains('?')
                   ? "(" + arms[0] + " or " + arms[1] + ")"
                   : "(" + condition + " ? " + arms[0] + " : " + arms[1] + ")";
      })
      .Case([&](arith::CmpIOp compare) -> std::string {
        return compare.getPredicate() == arith::CmpIPredicate::ule
                   ? operand(0) + " <= " + operand(1)
                   : "?";
      })
      .Case([&](memref::DimOp dim) -> std::string {
        auto argument = dyn_cast<BlockArgument>(dim.getSource());
        std::optional<int64_t> index = dim.getConstantIndex();
        if (!argument || !index || argument.getArgNumber() >= ports.size())
          return "?";
        auto port = cast<DictionaryAttr>(
            ports[static_cast<size_t>(argument.getArgNumber())]);
        return cast<StringAttr>(cast<ArrayAttr>(port.get("symbols"))[*index])
            .str();
      })
      .Default([](Operation *) { return "?"; });
}

std::string attn::explainWorkspace(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (auto kernel : module.getOps<func::FuncOp>()) {
    StringRef name = kernel.getName();
    if (!portsOf(kernel) || !name.consume_back(".kernel"))
      continue;
    auto workspace =
        module.lookupSymbol<func::FuncOp>((name + ".workspace").str());
    if (!workspace)
      continue;
    os << "\n  work space of " << name << ", in bytes:\n    "
       << formulaText(workspace.front().getTerminator()->getOperand(0),
                      portsOf(kernel))
       << "\n";
  }
  return text;
}
