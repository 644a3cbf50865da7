// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Before:  %w = attn.weight "wq" from "model.safetensors" : tensor<64x64xf32>
// After:   %w = arith.constant dense_resource<wq> : tensor<64x64xf32>
//
// The bytes are copied once, to where vectors may be loaded from. The same
// tensor of the same file is one constant in the whole module, and so in the
// object.
#include "attn/Import/Safetensors/LoadWeights.h"
#include "File.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace mlir;
using namespace attn;

namespace {
class WeightLoader {
public:
  explicit WeightLoader(StringRef folder) : folder(folder) {}
  LogicalResult load(WeightOp op);

  std::map<std::string, safetensors::File> files;

private:
  std::string folder;
  std::map<std::pair<std::string, std::string>, ElementsAttr> constants;
};
} // namespace

/// LLVM has no array of bits in its constants' raw form.
static ElementsAttr constantOf(RankedTensorType type, StringRef name,
                               ArrayRef<char> bytes) {
  if (type.getElementType().isInteger(1))
    return DenseElementsAttr::get(
        type, llvm::to_vector(
                  llvm::map_range(bytes, [](char byte) { return byte != 0; })));
  return DenseResourceElementsAttr::get(
      type, name,
      HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, /*align=*/64,
                                                    /*dataIsMutable=*/false));
}

LogicalResult WeightLoader::load(WeightOp op) {
  SmallString<128> path(op.getFile());
  if (!llvm::sys::path::is_absolute(path)) {
    path = folder;
    llvm::sys::path::append(path, op.getFile());
  }
  auto fail = [&](llvm::Error error) {
    return op.emitOpError() << "cannot read '" << path
                            << "': " << llvm::toString(std::move(error));
  };
  std::string key(path);
  auto file = files.find(key);
  if (file == files.end()) {
    llvm::Expected<safetensors::File> opened = safetensors::File::open(path);
    if (!opened)
      return fail(opened.takeError());
    file = files.try_emplace(key, std::move(*opened)).first;
  }
  RankedTensorType type = op.getType();
  llvm::Expected<ArrayRef<char>> bytes =
      file->second.find(op.getTensor(), type);
  if (!bytes)
    return fail(bytes.takeError());
  ElementsAttr &value = constants[{key, op.getTensor().str()}];
  if (!value || value.getType() != type)
    value = constantOf(type, op.getTensor(), *bytes);
  OpBuilder b(op);
  op.replaceAllUsesWith(
      arith::ConstantOp::create(b, op.getLoc(), cast<TypedAttr>(value))
          .getResult());
  op.erase();
  return success();
}

LogicalResult attn::loadWeights(ModuleOp module, StringRef folder,
                                std::vector<std::string> *filesRead) {
  WeightLoader loader(folder);
  WalkResult result = module.walk([&](WeightOp op) {
    return failed(loader.load(op)) ? WalkResult::interrupt()
                                   : WalkResult::advance();
  });
  if (filesRead)
    for (auto &[path, file] : loader.files)
      filesRead->push_back(path);
  return failure(result.wasInterrupted());
}
