// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights in a file are mapped before a kernel runs.
#include "Entry.h"
#include "attn-rt/weights.h"
#include "attn/Interface/WeightsFile.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace attn;
using namespace attn::entry;

/// The file's name as it can stand in a comment of C and in Python's text.
static std::string nameIn(StringRef path) {
  std::string name = llvm::sys::path::filename(path).str();
  for (char &c : name)
    c = llvm::isPrint(c) ? c : '?';
  return "'" + name + "'";
}

std::vector<std::string> entry::weightsTexts(ModuleOp module) {
  static_assert(ATTN_RT_WEIGHTS_MISSING == 1 && ATTN_RT_WEIGHTS_OTHER == 2 &&
                    ATTN_RT_WEIGHTS_UNMAPPED == 3,
                "statuses are in the order of these texts");
  WeightsFile file(module);
  if (file.count() == 0)
    return {};
  std::string name = nameIn(file.path());
  return {"weights: there is no file to read; a call or the variable "
          "ATTN_WEIGHTS names one, else it is " +
              name +
              ", where the compiler wrote it or beside the program or library",
          "weights: the file " + name +
              " is not the one that this kernel was compiled with",
          "weights: the system does not map the file " + name};
}

Value entry::mapWeights(Emitter &e, Value path, int32_t first) {
  auto map = e.declare("attn_rt_map_weights", e.i32, {e.ptr, e.ptr});
  auto weights = e.module.lookupSymbol<LLVM::GlobalOp>(weightsGlobal);
  Value failure = e.call(map, {e.address(weights), path});
  Value status =
      LLVM::SubOp::create(e.b, e.constant(e.i32, first + 1), failure);
  return e.select(e.compare(LLVM::ICmpPredicate::eq, failure, 0), failure,
                  status);
}
