// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Apart.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

Values cpu::callApart(KernelBuilder &k, StringRef suffix, ValueRange arguments,
                      TypeRange results,
                      function_ref<Values(ValueRange)> body) {
  OpBuilder &b = k.builder;
  auto kernel = cast<func::FuncOp>(k.kernel);
  auto module = kernel->getParentOfType<ModuleOp>();
  std::string name = (kernel.getName() + "_" + suffix).str();
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(kernel);
    auto type = b.getFunctionType(arguments.getTypes(), results);
    function = func::FuncOp::create(b, k.loc, name, type);
    function.setPrivate();
    Block *entry = function.addEntryBlock();
    b.setInsertionPointToStart(entry);
    func::ReturnOp::create(b, k.loc, body(entry->getArguments()));
  }
  return Values(
      func::CallOp::create(b, k.loc, function, arguments).getResults());
}
