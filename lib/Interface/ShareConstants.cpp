// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Equal constants become one.
//
// Before:  memref.global "private" constant @a : memref<2xf32> =
// dense<[1., 2.]>
//          memref.global "private" constant @b : memref<2xf32> =
//              dense_resource<b>        // the same bytes
//          %0 = memref.get_global @b : memref<2xf32>
// After:   memref.global "private" constant @a ..
//          %0 = memref.get_global @a : memref<2xf32>
//
// Weights that two functions share, or two ops of one, were rearranged for each
// (attn-tile-projections); equal ones are the same attribute only if they have
// the same name. Bytes are compared, but not of splats, which take none.
//
// Before: constants are globals. After: the same, fewer.
#include "attn/Interface/Passes.h"
#include "attn/Interface/WeightsFile.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/xxhash.h"

namespace attn {
#define GEN_PASS_DEF_SHARECONSTANTS
#include "attn/Interface/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static StringRef bytesOf(memref::GlobalOp global) {
  auto value = dyn_cast_or_null<ElementsAttr>(
      global.getInitialValue().value_or(Attribute()));
  return value && global.getConstant() ? WeightsFile::bytesOf(value)
                                       : StringRef();
}

static bool areEqual(memref::GlobalOp a, memref::GlobalOp b) {
  return a.getType() == b.getType() && a.getAlignment() == b.getAlignment() &&
         bytesOf(a) == bytesOf(b);
}

namespace {
struct ShareConstants : attn::impl::ShareConstantsBase<ShareConstants> {
  void runOnOperation() override {
    llvm::MapVector<uint64_t, SmallVector<memref::GlobalOp>> byHash;
    for (auto global : getOperation().getOps<memref::GlobalOp>())
      if (StringRef bytes = bytesOf(global); !bytes.empty())
        byHash[llvm::xxh3_64bits(bytes)].push_back(global);
    llvm::StringMap<memref::GlobalOp> replaced;
    for (auto &[hash, globals] : byHash)
      for (memref::GlobalOp global : globals) {
        auto *same = llvm::find_if(globals, [&](memref::GlobalOp other) {
          return areEqual(other, global);
        });
        if (*same != global)
          replaced[global.getSymName()] = *same;
      }
    if (replaced.empty())
      return markAllAnalysesPreserved();
    getOperation().walk([&](memref::GetGlobalOp reader) {
      if (memref::GlobalOp same = replaced.lookup(reader.getName()))
        reader.setName(same.getSymName());
    });
    for (memref::GlobalOp global :
         llvm::make_early_inc_range(getOperation().getOps<memref::GlobalOp>()))
      if (replaced.contains(global.getSymName()))
        global.erase();
  }
};
} // namespace
