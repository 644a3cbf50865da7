// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Residuals and cotangents have sizes of the forward function. Names say so
// (attn.sizes), since the gradient need not hold the ops from which that
// follows, and a call whose sizes differ must be refused.
#include "NameSizes.h"
#include "Shapes/ShapeConstraints.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace attn;

static constexpr StringLiteral sizesAttr = "attn.sizes";

static bool isUnknown(SizeClasses &classes, Dim dim) {
  return classes.sizeOf(dim) < 0;
}

namespace {
/// Names of the sizes of a function, by their class.
class SizeNames {
public:
  SizeNames(func::FuncOp function, SizeClasses &classes) : classes(classes) {
    for (bool given : {true, false})
      for (BlockArgument argument : function.getArguments())
        collect(function, argument, given);
  }

  /// The names of the dimensions of `value`, with those that are known empty.
  ArrayAttr of(Value value) {
    SmallVector<Attribute> texts;
    Builder b(value.getContext());
    auto type = cast<RankedTensorType>(value.getType());
    for (int64_t i = 0; i < type.getRank(); ++i)
      texts.push_back(b.getStringAttr(isUnknown(classes, {value, i})
                                          ? names[classes.find({value, i})]
                                          : ""));
    return b.getArrayAttr(texts);
  }

private:
  /// Those that an argument has been given, or those made of its own name.
  void collect(func::FuncOp function, BlockArgument argument, bool given) {
    unsigned number = argument.getArgNumber();
    auto own = function.getArgAttrOfType<ArrayAttr>(number, sizesAttr);
    auto name = function.getArgAttrOfType<StringAttr>(number, "attn.name");
    std::string base = name ? name.str() : "arg" + std::to_string(number);
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    for (int64_t i = 0; type && i < type.getRank(); ++i) {
      if (!isUnknown(classes, {argument, i}))
        continue;
      std::string text = base + std::to_string(i);
      if (given) {
        auto chosen = own && i < static_cast<int64_t>(own.size())
                          ? dyn_cast<StringAttr>(own[i])
                          : StringAttr();
        if (!chosen || chosen.empty())
          continue;
        text = chosen.str();
      }
      std::string &place = names[classes.find({argument, i})];
      if (!place.empty())
        continue;
      while (!used.insert(text).second)
        text += "_";
      place = text;
    }
  }

  SizeClasses &classes;
  llvm::DenseMap<unsigned, std::string> names;
  llvm::StringSet<> used;
};
} // namespace

LogicalResult
attn::nameSizes(func::FuncOp forward, func::FuncOp gradient,
                const llvm::DenseMap<Value, Value> &valueInForward) {
  SizeClasses classes;
  ShapeConstraints requirements(classes);
  forward.walk([&](Operation *op) { requirements.collect(op); });
  if (classes.failed)
    return failure();
  SizeNames names(forward, classes);
  for (BlockArgument argument : gradient.getArguments()) {
    Value like = valueInForward.lookup(argument);
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (like && type && !type.hasStaticShape())
      gradient.setArgAttr(argument.getArgNumber(), sizesAttr, names.of(like));
  }
  return success();
}
