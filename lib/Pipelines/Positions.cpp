// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Pipelines/Positions.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

std::string attn::positionOf(Location location, StringRef unknown) {
  auto at = location->findInstanceOf<FileLineColLoc>();
  if (!at)
    return unknown.str();
  // A model has no lines, but names.
  if (auto named = location->findInstanceOf<NameLoc>(); at.getLine() == 0)
    return at.getFilename().str() +
           (named ? ": " + named.getName().str() : std::string());
  return (at.getFilename().getValue() + ":" + Twine(at.getLine()) + ":" +
          Twine(at.getColumn()))
      .str();
}
