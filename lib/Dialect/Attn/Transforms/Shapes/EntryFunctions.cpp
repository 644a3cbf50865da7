// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "EntryFunctions.h"

using namespace mlir;

SmallVector<func::FuncOp> attn::entryFunctions(ModuleOp module) {
  return llvm::filter_to_vector(
      module.getOps<func::FuncOp>(), [](func::FuncOp function) {
        return function.isPublic() && !function.isExternal();
      });
}

func::FuncOp attn::cloneBehind(func::FuncOp function) {
  OpBuilder b(function.getContext());
  b.setInsertionPointAfter(function);
  return cast<func::FuncOp>(b.clone(*function));
}

void attn::answerInstead(func::FuncOp copy, Part question, Value answer) {
  copy.setName(partName(copy.getName(), question));
  copy->removeAttr(PortAttr::functionAttr);
  copy->removeAttr(PictureAttr::functionAttr);
  copy.removeResAttrsAttr();
  copy.setPrivate();
  copy.setType(FunctionType::get(copy.getContext(), copy.getArgumentTypes(),
                                 answer.getType()));
  copy.front().getTerminator()->setOperands(answer);
}
