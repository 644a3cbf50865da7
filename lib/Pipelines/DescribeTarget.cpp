// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Pipelines/DescribeTarget.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace attn;

TargetAttr attn::describeTarget(MLIRContext *context,
                                const target::Processor &runs,
                                const target::Processor &tiles, bool generic) {
  Products products = tiles.amx              ? Products::Amx
                      : tiles.pairChains > 0 ? Products::Dot
                                             : Products::Fma;
  bool special = !generic;
  context->getOrLoadDialect<AttnDialect>();
  return TargetAttr::get(
      context, runs.machine->getTargetTriple().str(), runs.name(), tiles.lanes,
      tiles.registers, tiles.chains, tiles.pairChains, tiles.l1Bytes, products,
      special && runs.scalef, special && runs.f16, special && runs.bf16,
      special && runs.amx, special && runs.laneProducts, tiles.sharedBytes);
}

FailureOr<TargetAttr> attn::withFacts(TargetAttr target, StringRef facts) {
  std::string text;
  llvm::raw_string_ostream(text) << target;
  StringRef fields(text);
  StringRef head = fields.take_until([](char c) { return c == '<'; });
  fields = fields.drop_front(head.size() + 1).drop_back();
  llvm::MapVector<StringRef, StringRef> values;
  for (StringRef part : {fields, facts})
    for (StringRef field : llvm::split(part, ','))
      if (auto [name, value] = field.split('='); !name.trim().empty())
        values[name.trim()] = value.trim();
  std::string joined = (head + "<").str();
  llvm::raw_string_ostream os(joined);
  llvm::interleaveComma(values, os, [&](const auto &field) {
    os << field.first << " = " << field.second;
  });
  os << ">";
  auto changed =
      dyn_cast_or_null<TargetAttr>(parseAttribute(joined, target.getContext()));
  if (!changed)
    return failure();
  return changed;
}

namespace {
/// For tests of passes, each with the target that it is about.
struct SetTarget : PassWrapper<SetTarget, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SetTarget)

  SetTarget() = default;
  SetTarget(const SetTarget &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "attn-set-target"; }
  StringRef getDescription() const override {
    return "Change the description of the module's target";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<AttnDialect>();
  }
  void runOnOperation() override {
    FailureOr<TargetAttr> target =
        withFacts(TargetAttr::of(getOperation()), facts);
    if (failed(target))
      return signalPassFailure();
    getOperation()->setAttr(TargetAttr::moduleAttr, *target);
  }

  Option<std::string> facts{*this, "facts",
                            llvm::cl::desc("fields, as lanes=16,registers=32")};
};
} // namespace

void attn::registerSetTarget() { PassRegistration<SetTarget>(); }
