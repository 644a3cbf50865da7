// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ExplainFormula.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

std::string attn::formulaText(Value value, ArrayRef<PortAttr> ports) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getArgNumber() >= ports.size() ? "threads" : "?";
  Operation *op = value.getDefiningOp();
  auto operand = [&](unsigned i) {
    return formulaText(op->getOperand(i), ports);
  };
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([&](arith::ConstantIndexOp constant) {
        return std::to_string(constant.value());
      })
      .Case([&](arith::AddIOp) { return operand(0) + " + " + operand(1); })
      .Case(
          [&](arith::SubIOp) { return operand(0) + " - (" + operand(1) + ")"; })
      .Case([&](arith::MulIOp product) {
        // A size rounded up to a multiple, so that the next one is aligned.
        auto quotient = product.getLhs().getDefiningOp<arith::DivUIOp>();
        auto sum = quotient ? quotient.getLhs().getDefiningOp<arith::AddIOp>()
                            : arith::AddIOp();
        if (sum && quotient.getRhs() == product.getRhs())
          return "roundup(" + formulaText(sum.getLhs(), ports) + ", " +
                 operand(1) + ")";
        auto factor = [&](unsigned i) {
          std::string text = operand(i);
          return StringRef(text).contains(" + ") ? "(" + text + ")" : text;
        };
        return factor(0) + "*" + factor(1);
      })
      .Case<arith::CeilDivUIOp, arith::CeilDivSIOp>(
          [&](auto) { return "ceil((" + operand(0) + ")/" + operand(1) + ")"; })
      .Case<arith::DivUIOp, arith::DivSIOp>([&](auto) {
        return "floor((" + operand(0) + ")/" + operand(1) + ")";
      })
      .Case([&](arith::MinUIOp) -> std::string {
        // Threads, or items where these are fewer.
        std::string arms[] = {operand(0), operand(1)};
        return llvm::is_contained(arms, "threads")
                   ? "workers"
                   : "min(" + arms[0] + ", " + arms[1] + ")";
      })
      .Case<arith::MaxUIOp, arith::MaxSIOp>(
          [&](auto) { return "max(" + operand(0) + ", " + operand(1) + ")"; })
      .Case([&](arith::SelectOp) {
        std::string condition = operand(0), arms[] = {operand(1), operand(2)};
        return StringRef(condition).contains('?')
                   ? "(" + arms[0] + " or " + arms[1] + ")"
                   : "(" + condition + " ? " + arms[0] + " : " + arms[1] + ")";
      })
      .Case([&](arith::CmpIOp compare) -> std::string {
        switch (compare.getPredicate()) {
        case arith::CmpIPredicate::ule:
          return operand(0) + " <= " + operand(1);
        case arith::CmpIPredicate::uge:
          return operand(0) + " >= " + operand(1);
        default:
          return "?";
        }
      })
      .Case([&](arith::AndIOp) { return operand(0) + " and " + operand(1); })
      .Case([&](memref::DimOp dim) -> std::string {
        auto argument = dyn_cast<BlockArgument>(dim.getSource());
        std::optional<int64_t> index = dim.getConstantIndex();
        if (!argument || !index || argument.getArgNumber() >= ports.size())
          return "?";
        return ports[argument.getArgNumber()].getSymbols()[*index].str();
      })
      .Default([](Operation *) { return "?"; });
}

/// The size of an argument, where it is known or given.
static std::optional<int64_t>
sizeOf(memref::DimOp dim, ArrayRef<PortAttr> ports, GivenSizes sizes) {
  auto argument = dyn_cast<BlockArgument>(dim.getSource());
  std::optional<int64_t> index = dim.getConstantIndex();
  if (!argument || !index || argument.getArgNumber() >= ports.size())
    return std::nullopt;
  PortAttr port = ports[argument.getArgNumber()];
  if (port.getSizes()[*index] >= 0)
    return port.getSizes()[*index];
  for (const auto &[name, value] : sizes)
    if (name == port.getSymbols()[*index].getValue())
      return value;
  return std::nullopt;
}

std::optional<int64_t> attn::formulaValue(Value value, ArrayRef<PortAttr> ports,
                                          GivenSizes sizes) {
  Operation *op = value.getDefiningOp();
  if (auto constant = value.getDefiningOp<arith::ConstantIndexOp>())
    return constant.value();
  if (auto constant = value.getDefiningOp<arith::ConstantIntOp>())
    return constant.value();
  if (auto dim = value.getDefiningOp<memref::DimOp>())
    return sizeOf(dim, ports, sizes);
  if (auto choice = value.getDefiningOp<arith::SelectOp>()) {
    auto holds = formulaValue(choice.getCondition(), ports, sizes);
    if (!holds)
      return std::nullopt;
    return formulaValue(*holds ? choice.getTrueValue() : choice.getFalseValue(),
                        ports, sizes);
  }
  if (!op || op->getNumOperands() != 2)
    return std::nullopt;
  auto a = formulaValue(op->getOperand(0), ports, sizes),
       b = formulaValue(op->getOperand(1), ports, sizes);
  if (!a || !b)
    return std::nullopt;
  int64_t x = *a, y = *b;
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case([&](arith::CmpIOp compare) -> std::optional<int64_t> {
        if (compare.getPredicate() == arith::CmpIPredicate::ule)
          return x <= y;
        if (compare.getPredicate() == arith::CmpIPredicate::uge)
          return x >= y;
        return std::nullopt;
      })
      .Case([&](arith::AndIOp) { return x & y; })
      .Case([&](arith::AddIOp) { return x + y; })
      .Case([&](arith::SubIOp) { return x - y; })
      .Case([&](arith::MulIOp) { return x * y; })
      .Case<arith::MinUIOp, arith::MinSIOp>(
          [&](auto) { return std::min(x, y); })
      .Case<arith::MaxUIOp, arith::MaxSIOp>(
          [&](auto) { return std::max(x, y); })
      .Case<arith::CeilDivUIOp, arith::CeilDivSIOp>(
          [&](auto) -> std::optional<int64_t> {
            if (y <= 0)
              return std::nullopt;
            return llvm::divideCeilSigned(x, y);
          })
      .Case<arith::DivUIOp, arith::DivSIOp>(
          [&](auto) -> std::optional<int64_t> {
            if (y <= 0)
              return std::nullopt;
            return x / y;
          })
      .Default([](Operation *) { return std::nullopt; });
}
