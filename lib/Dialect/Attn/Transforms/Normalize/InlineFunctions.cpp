// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-inline-functions: calls become the body of what they call.
//
// Before:  func.func private @norm(%x: tensor<?x64xf32>) -> .. {
//            %y = attn.rms_norm %x eps 1.0e-6 : ..
//            return %y : ..
//          }
//          func.func @layer(%q: tensor<?x64xf32>) -> .. {
//            %n = call @norm(%q) : ..
//            ..
// After:   func.func @layer(%q: tensor<?x64xf32>) -> .. {
//            %n = attn.rms_norm %q eps 1.0e-6 : ..
//            ..
//
// The steps of an attention may then stand in several functions. A public
// function that another one calls stays a function of its own as well; private
// functions, which nothing calls any more, go.
//
// Before: any. After: no func.call and no private function. Refused at the
// call: recursion, functions without a body or with branches, calls whose
// callee is a value, and programs that would grow beyond any use.
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/DenseMap.h"

namespace attn {
#define GEN_PASS_DEF_INLINEFUNCTIONS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;

/// Ops of one function after inlining. A chain of functions each of which calls
/// the next one twice grows exponentially.
static constexpr int64_t maxOps = 1 << 16;
/// Calls inside of calls.
static constexpr unsigned maxDepth = 256;

namespace {
class FunctionInliner {
public:
  explicit FunctionInliner(ModuleOp module) : symbols(module) {}

  /// Replaces all calls in `function`, after those in what it calls.
  LogicalResult inlineInto(func::FuncOp function, unsigned depth = 0);

private:
  LogicalResult prepare(func::CallOp call, func::FuncOp callee, unsigned depth);

  SymbolTable symbols;
  /// Functions begun, with the number of ops of those that are done.
  llvm::DenseMap<func::FuncOp, std::optional<int64_t>> visited;
};
} // namespace

static void replaceCall(func::CallOp call, func::FuncOp callee) {
  IRRewriter rewriter(call);
  IRMapping mapping;
  mapping.map(callee.getArguments(), call.getOperands());
  for (Operation &op : callee.front().without_terminator())
    rewriter.clone(op, mapping);
  SmallVector<Value> results;
  for (Value result : callee.front().getTerminator()->getOperands())
    results.push_back(mapping.lookup(result));
  rewriter.replaceOp(call, results);
}

/// Checks that `callee` can be inlined, and inlines what it calls itself.
LogicalResult FunctionInliner::prepare(func::CallOp call, func::FuncOp callee,
                                       unsigned depth) {
  StringRef name = callee.getName();
  if (callee.isExternal())
    return call.emitOpError() << "calls '" << name
                              << "', which has no body: expects a function "
                                 "of this module";
  if (!callee.getBody().hasOneBlock())
    return call.emitOpError()
           << "calls '" << name
           << "', which has branches: expects a function of one block";
  if (depth == maxDepth)
    return call.emitOpError() << "calls '" << name << "' in more than "
                              << maxDepth << " calls inside of each other";
  auto found = visited.find(callee);
  if (found == visited.end())
    return inlineInto(callee, depth + 1);
  if (!found->second)
    return call.emitOpError() << "calls '" << name
                              << "', which has not ended: expects functions "
                                 "that do not call themselves";
  return success();
}

LogicalResult FunctionInliner::inlineInto(func::FuncOp function,
                                          unsigned depth) {
  visited[function] = std::nullopt;
  SmallVector<func::CallOp> calls;
  int64_t size = 0;
  WalkResult named = function.walk([&](Operation *op) {
    ++size;
    if (auto call = dyn_cast<func::CallOp>(op))
      calls.push_back(call);
    if (!isa<func::CallIndirectOp>(op))
      return WalkResult::advance();
    op->emitOpError(
        "is not supported: expects func.call of a function by name");
    return WalkResult::interrupt();
  });
  if (named.wasInterrupted())
    return failure();
  for (func::CallOp call : calls) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (failed(prepare(call, callee, depth)))
      return failure();
    size += *visited[callee];
    if (size > maxOps)
      return call.emitOpError()
             << "makes its function longer than " << maxOps
             << " ops, because calls become the body of what they call";
    replaceCall(call, callee);
  }
  visited[function] = size;
  return success();
}

namespace {
struct InlineFunctions : attn::impl::InlineFunctionsBase<InlineFunctions> {
  void runOnOperation() override {
    FunctionInliner inliner(getOperation());
    SmallVector<func::FuncOp> unused;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function.isPublic() || function.isExternal())
        unused.push_back(function);
      else if (failed(inliner.inlineInto(function)))
        return signalPassFailure();
    }
    for (func::FuncOp function : unused)
      function.erase();
  }
};
} // namespace
