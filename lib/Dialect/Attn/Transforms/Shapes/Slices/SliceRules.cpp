// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is wrong where a slice lies outside, by the op that says it.
#include "SliceChecker.h"

using namespace mlir;
using namespace attn;

/// As many as a header lists with patience; the rest have one text.
static constexpr size_t mostTexts = 48;

/// The op in the specification, or the node in the model, of which `op` is.
static std::string placeOf(Operation *op) {
  std::string text = "'" + op->getName().getStringRef().str() + "'";
  auto at = op->getLoc()->findInstanceOf<FileLineColLoc>();
  if (auto named = op->getLoc()->findInstanceOf<NameLoc>();
      named && (!at || at.getLine() == 0))
    text = named.getName().str();
  else if (at)
    text += " at line " + std::to_string(at.getLine());
  // Headers have it in a comment.
  for (char &c : text)
    c = llvm::isPrint(c) && c != '*' ? c : '?';
  return text;
}

void SliceChecker::require(Operation *op, Rule rule, Value condition) {
  StringRef what = rule == Rule::Size ? "computed sizes differ"
                   : isa<OffsetSizeAndStrideOpInterface>(op)
                       ? "a slice lies outside of its tensor"
                       : "an element lies outside of its tensor";
  StringAttr text = b.getStringAttr("arguments: " + what + ": " + placeOf(op));
  if (all.size() >= mostTexts && !all.contains(text))
    text = b.getStringAttr("arguments: a slice lies outside of its tensor, or "
                           "computed sizes differ");
  Value &holds = all[text];
  holds = both(op->getLoc(), holds, condition);
}

std::pair<Value, ArrayAttr> SliceChecker::firstBroken() {
  Location loc = function.getLoc();
  b.setInsertionPoint(function.front().getTerminator());
  Value answer = arith::ConstantIntOp::create(b, loc, 0, 32);
  SmallVector<Attribute> texts;
  for (auto [text, holds] : all)
    texts.push_back(text);
  for (auto [i, rule] : llvm::enumerate(llvm::reverse(all))) {
    Value number =
        arith::ConstantIntOp::create(b, loc, int64_t(all.size() - i), 32);
    answer = arith::SelectOp::create(b, loc, rule.second, answer, number);
  }
  return {answer, b.getArrayAttr(texts)};
}
