// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ExplainFacts.h"
#include "ExplainFormula.h"
#include "attn/Dialect/Attn/Utils/DecodeRows.h"
#include "attn/Interface/KernelSignature.h"
#include "attn/Interface/Passes.h"
#include "attn/Interface/WeightsFile.h"
#include "attn/Pipelines/Positions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attn;

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

/// Explains the attentions of one function.
class KernelExplainer {
public:
  KernelExplainer(func::FuncOp function, const SymbolSizes &sizes,
                  llvm::raw_ostream &os)
      : function(function), sizes(sizes), os(os) {}

  void explain();

private:
  void ports(StringRef heading, bool input);
  void residuals();
  void attention(SdpaOp op);
  void gradient(SdpaGradOp op);
  void projection(ProjectOp op);
  void states(Operation *op, StringRef what, ScheduleInterface schedule);

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

void KernelExplainer::ports(StringRef heading, bool input) {
  SmallVector<std::string> texts;
  for (PortAttr port : PortAttr::of(function)) {
    if (port.getInput() != input)
      continue;
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << port.getName().getValue() << " (";
    llvm::interleaveComma(llvm::seq(port.getRank()), stream,
                          [&](int64_t dim) { stream << port.sizeText(dim); });
    stream << ") " << port.getElementType();
    texts.push_back(text);
  }
  os << "  " << llvm::formatv("{0,-11}", heading) << llvm::join(texts, ", ")
     << "\n";
}

/// What an item sees, where that is not all keys.
static std::string itemKeys(SdpaOp op, ScheduleInterface schedule) {
  int64_t keys = keysPerItem(op, schedule);
  bool decode = schedule.getKind() == Kind::Decode;
  if (!keys)
    return decode ? ", one document after the other" : "";
  std::string text = llvm::formatv(", {0} keys per item", keys);
  if (!decode && !splitsKeys(op, schedule))
    text += llvm::formatv(" where Sq <= {0} and Skv >= {1}",
                          schedule.getSplitQueries(), leastSplitKeys(schedule));
  return text;
}

/// `use` says which lengths the schedule is for, `seen` what an item sees.
static void printSchedule(llvm::raw_ostream &os, ScheduleInterface schedule,
                          const Twine &use = "", const Twine &seen = "") {
  bool decode = schedule.getKind() == Kind::Decode;
  os << "    schedule  " << use << schedule.getQueryTile()
     << (decode ? " rows by " : " queries by ") << schedule.getKeyTile()
     << " keys per tile";
  os << seen;
  if (auto gpu = dyn_cast<GPUScheduleAttr>(schedule)) {
    os << "; blocks of " << gpu.getWarps()
       << (gpu.getWarps() == 1 ? " warp\n" : " warps\n");
    return;
  }
  auto cpu = cast<CPUScheduleAttr>(schedule);
  os << "; register tile of " << cpu.getRows()
     << (decode ? " keys by 4 queries and 4 queries by " : " by ")
     << cpu.getVectors() << " vectors of " << cpu.getLanes() << " lanes";
  if (schedule.usesDot())
    os << ", products = " << stringifyProducts(schedule.getProducts());
  os << "\n";
}

/// The schedules with the lengths that each is for.
static void printSchedules(llvm::raw_ostream &os, SdpaOp op) {
  ScheduleInterface many = op.getScheduleAttr(),
                    few = op.getDecodeScheduleAttr();
  auto use = [&](StringRef kind, StringRef relation) {
    std::string text = kind.str();
    if (many && few)
      text += (" where Sq " + relation + " " + Twine(mostDecodeQueries(op)) +
               (countsDocuments(op) ? " per document" : ""))
                  .str();
    return text + ": ";
  };
  if (many)
    printSchedule(os, many, few ? use("prefill", ">") : std::string(),
                  itemKeys(op, many));
  if (few)
    printSchedule(os, few, use("decode", "<="), itemKeys(op, few));
}

/// How blocks of a GPU share the keys of few queries.
static void printParts(llvm::raw_ostream &os, SdpaOp op,
                       const AttentionFacts &facts) {
  std::optional<PartsFacts> parts = partsOf(op, facts, facts.schedule);
  if (!parts)
    return;
  os << "    parts     ";
  if (parts->parts < 0)
    os << "as many as Skv asks for";
  else
    os << parts->parts;
  os << llvm::formatv(", each {0} {1} of {2} {3} per batch entry; a second "
                      "kernel merges their states in order\n",
                      parts->blocks, parts->blocks == 1 ? "block" : "blocks",
                      parts->heads, parts->heads == 1 ? "head" : "heads");
  if (parts->keyBytes < 0)
    return;
  os << llvm::formatv("    bytes     {0} of keys and values per batch entry, "
                      "read {1} {2}",
                      parts->keyBytes, parts->reads,
                      parts->reads == 1 ? "time" : "times");
  if (parts->stateBytes >= 0)
    os << "; " << parts->stateBytes << " of states, written and read";
  os << "\n";
}

static void printCounts(llvm::raw_ostream &os, const AttentionFacts &facts) {
  os << "    tiles     ";
  if (!facts.counts) {
    os << "how many depends on " << facts.notCounted << "\n";
    return;
  }
  const TileCounts &counts = *facts.counts;
  os << counts.all << " of " << facts.ranges.tiles.query << " queries and "
     << facts.ranges.tiles.key << " keys: " << counts.visited << " visited ("
     << counts.edge << " with the mask tested per pair), "
     << counts.all - counts.visited << " skipped\n";
  if (!counts.testedPairs)
    return;
  os << "    pairs     " << counts.visiblePairs << " of "
     << *facts.queries.value * *facts.keys.value << " visible, "
     << counts.visitedPairs << " in visited tiles, of which "
     << counts.emptyVisited << " are empty; "
     << llvm::format("%.0f", facts.flops(counts.visiblePairs))
     << " FLOPs per batch entry and head\n";
}

static void printTiles(llvm::raw_ostream &os, const AttentionFacts &facts) {
  printCounts(os, facts);
  os << "    key tiles kt that the query rows [qlo, qhi) visit, and those that "
        "need the mask:\n";
  SmallVector<StringRef> lines;
  std::string text = toString(facts.ranges);
  StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    os << "      " << line << "\n";
}

void KernelExplainer::attention(SdpaOp op) {
  std::vector<AttentionFacts> all = factsOf(op, sizes);
  const AttentionFacts &facts = all.front();
  os << "\n  attention at " << facts.position << "\n"
     << "    lengths   Sq = " << facts.queries.text
     << ", Skv = " << facts.keys.text << "\n"
     << "    mask      row q sees key k if " << facts.mask << "\n";
  if (op.isSigmoid())
    os << "    weights   by sigmoid, each by itself\n";
  if (op.isDifferential())
    os << "    maps      two, of which the second times lambda is subtracted "
          "(differential attention)\n";
  printSchedules(os, op);
  for (const AttentionFacts &each : all) {
    printParts(os, op, each);
    printTiles(os, each);
  }
}

/// What the forward function keeps for this one.
void KernelExplainer::residuals() {
  std::vector<ResidualFacts> kept = residualsOf(function, sizes);
  if (kept.empty())
    return;
  os << "  " << llvm::formatv("{0,-11}", "residuals");
  llvm::interleaveComma(kept, os, [&](const ResidualFacts &each) {
    os << each.name << " of " << each.bytes << " bytes";
  });
  os << "\n";
}

void KernelExplainer::gradient(SdpaGradOp op) {
  GradientFacts facts = factsOf(op, sizes);
  const AttentionFacts &attention = facts.attention;
  os << "\n  gradient of the attention at " << attention.position << "\n"
     << "    by        " << llvm::join(facts.by, ", ") << "\n"
     << "    lengths   Sq = " << attention.queries.text
     << ", Skv = " << attention.keys.text << "\n"
     << "    mask      row q sees key k if " << attention.mask << "\n";
  std::string parts;
  if (attention.keysPerItem)
    parts = llvm::formatv(", {0} or more keys per item where key heads are few",
                          attention.keysPerItem);
  printSchedule(os, attention.schedule, "", parts);
  os << "    products  " << facts.products.size()
     << " per tile, in one pass: " << llvm::join(facts.products, ", ");
  if (!facts.dropped.empty())
    os << "; not asked for and dropped: " << llvm::join(facts.dropped, ", ");
  os << "\n";
  printTiles(os, attention);
}

void KernelExplainer::projection(ProjectOp op) {
  os << "\n  projection at " << positionOf(op.getLoc()) << "\n";
  if (ScheduleInterface schedule = op.getScheduleAttr())
    printSchedule(os, schedule);
}

void KernelExplainer::states(Operation *op, StringRef what,
                             ScheduleInterface schedule) {
  os << "\n  " << what << " at " << positionOf(op->getLoc()) << "\n";
  if (auto cpu = dyn_cast_if_present<CPUScheduleAttr>(schedule))
    os << "    schedule  items of " << cpu.getQueryTile() << " rows, "
       << cpu.getLanes() << " lanes of features\n";
}

void KernelExplainer::explain() {
  os << "function " << function.getName() << "\n";
  ports("arguments", /*input=*/true);
  ports("results", /*input=*/false);
  residuals();
  function.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](SdpaOp sdpa) { attention(sdpa); })
        .Case([&](SdpaGradOp grad) { gradient(grad); })
        .Case([&](ProjectOp project) { projection(project); })
        .Case([&](MergeStatesOp merge) {
          states(op, "merge of two states", merge.getScheduleAttr());
        })
        .Case([&](FinalizeStateOp finalize) {
          states(op, "result of a state", finalize.getScheduleAttr());
        });
  });
}

std::string attn::explainKernels(ModuleOp module, const SymbolSizes &sizes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  // Asking for a size leaves ops behind.
  OwningOpRef<ModuleOp> copy = module.clone();
  for (auto function : copy->getOps<func::FuncOp>())
    if (function->hasAttr(PortAttr::functionAttr) && !PictureAttr::of(function))
      KernelExplainer(function, sizes, os).explain();
  return text;
}

/// Whether an index computation reads the size of a copy that only some calls
/// make.
static bool isOfContiguousCopy(Value value) {
  Operation *op = value.getDefiningOp();
  return op && (op->hasAttr(contiguousCopyAttr) ||
                llvm::any_of(op->getOperands(), isOfContiguousCopy));
}

/// The terms of a sum but those of such copies.
static void collectTerms(Value sum, SmallVectorImpl<Value> &terms) {
  if (!isOfContiguousCopy(sum))
    return terms.push_back(sum);
  if (auto add = sum.getDefiningOp<arith::AddIOp>())
    for (Value operand : add.getOperands())
      collectTerms(operand, terms);
}

std::string attn::explainWorkspace(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const KernelSignature &kernel : KernelSignature::all(module)) {
    func::FuncOp workspace = kernel.lookup(Part::Workspace);
    if (!workspace || PictureAttr::of(kernel.getFunction()))
      continue;
    std::vector<PortAttr> ports = PortAttr::of(kernel.getFunction());
    SmallVector<Value> terms;
    collectTerms(workspace.front().getTerminator()->getOperand(0), terms);
    os << "\n  work space of " << kernel.getName() << ", in bytes:\n    ";
    llvm::interleave(
        terms, os, [&](Value term) { os << formulaText(term, ports); }, " + ");
    bool launches = !module.getOps<gpu::GPUModuleOp>().empty();
    os << (terms.empty() ? "0" : "") << "\n    with "
       << (launches ? ""
                    : "a worker for each thread, or for each item where these "
                      "are fewer, and ")
       << "a copy of each tensor of which the innermost stride is not 1 or one "
          "is negative\n";
  }
  return text;
}

std::string attn::explainWeights(ModuleOp module) {
  WeightsFile file(module);
  if (file.count() == 0)
    return "";
  return llvm::formatv("\n  weights: {0} tensors in '{1}', {2} bytes\n",
                       file.count(), file.path(), file.bytes())
      .str();
}
