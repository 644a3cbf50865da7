// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tile registers belong to processes that asked for them.
#include "Entry.h"
#include "attn/Conversion/VectorToCPU/Products.h"

using namespace mlir;
using namespace attn::entry;

bool attn::entry::multipliesTiles(ModuleOp module, StringRef kernel) {
  std::string prefix = (kernel + ".").str();
  return llvm::any_of(module.getOps<func::FuncOp>(), [&](func::FuncOp f) {
    return f.getName().starts_with(prefix) &&
           f.walk([](vector::ContractionOp op) {
              return cpu::isTileProduct(op) ? WalkResult::interrupt()
                                            : WalkResult::advance();
            }).wasInterrupted();
  });
}

Check attn::entry::tilesCheck() {
  return {"processor: has no tile registers (AMX), or the system refuses them",
          [](Emitter &e, Value) -> Value {
            auto request = e.declare("attn_rt_request_tiles", e.i32, {});
            return e.compare(LLVM::ICmpPredicate::ne, e.call(request, {}), 0);
          }};
}
