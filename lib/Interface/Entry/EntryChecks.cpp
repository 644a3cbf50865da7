// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules that a kernel's arguments must follow.
#include "Entry.h"
#include "attn/Dialect/Attn/IR/SizeText.h"
#include "attn/Interface/ElementTypes.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace attn;
using namespace attn::entry;
using LLVM::ICmpPredicate;

static std::string dimensionText(const Port &port, int64_t dim) {
  return (port.attr.getName().getValue() + ": dimension " + Twine(dim)).str();
}

/// Whether no size at these offsets is 0.
static Value noneIsZero(Emitter &e, Value args, ArrayRef<int64_t> offsets) {
  Value all = e.constant(e.b.getI1Type(), 1);
  for (int64_t offset : offsets) {
    Value size = e.load(e.i64, args, offset);
    all = LLVM::AndOp::create(e.b, all, e.compare(ICmpPredicate::ne, size, 0));
  }
  return all;
}

/// Whether the port has an element. Checks of memory end with this: an empty
/// tensor may have any pointer and any strides.
static Value hasElements(Emitter &e, Value args, const Port &port) {
  SmallVector<int64_t> offsets;
  for (int64_t dim = 0; dim < port.attr.getRank(); ++dim)
    if (port.attr.getSizes()[dim] <= 0)
      offsets.push_back(ArgsLayout::shape(port, dim));
  return noneIsZero(e, args, offsets);
}

/// A table without elements has no readers, whose sizes stand at `readers`.
static Check tableCheck(const Port &port,
                        const SmallVector<SmallVector<int64_t>> &readers) {
  return {port.attr.getName().str() + ": has no element",
          [&port, readers](Emitter &e, Value args) {
            Value no = e.constant(e.b.getI1Type(), 0), isRead = no;
            for (ArrayRef<int64_t> sizes : readers)
              isRead =
                  LLVM::OrOp::create(e.b, isRead, noneIsZero(e, args, sizes));
            return e.select(hasElements(e, args, port), no, isRead);
          }};
}

using FirstUses = llvm::StringMap<std::pair<const Port *, int64_t>>;

/// The value of `size`, whose symbols have these values.
static Value emitSum(Emitter &e, AffineExpr size, ArrayRef<Value> values) {
  if (auto number = dyn_cast<AffineConstantExpr>(size))
    return e.constant(e.i64, number.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(size))
    return values[symbol.getPosition()];
  auto two = cast<AffineBinaryOpExpr>(size);
  Value left = emitSum(e, two.getLHS(), values),
        right = emitSum(e, two.getRHS(), values);
  if (two.getKind() == AffineExprKind::Add)
    return LLVM::AddOp::create(e.b, left, right);
  if (two.getKind() == AffineExprKind::Mul)
    return LLVM::MulOp::create(e.b, left, right);
  // Rounded down: one less than the quotient where a rest is negative.
  Value rest = LLVM::SRemOp::create(e.b, left, right);
  Value isBelow = e.compare(ICmpPredicate::slt, rest, 0);
  if (two.getKind() == AffineExprKind::Mod)
    return e.select(isBelow, LLVM::AddOp::create(e.b, rest, right), rest);
  Value quotient = LLVM::SDivOp::create(e.b, left, right);
  Value less = LLVM::SubOp::create(e.b, quotient, e.constant(e.i64, 1));
  return e.select(isBelow, less, quotient);
}

/// A size of a result that is computed from others.
static Check computedCheck(const std::string &text, StringRef written,
                           AffineExpr size, ArrayRef<SizeSymbol> symbols,
                           int64_t offset, const FirstUses &firstUse) {
  llvm::StringMap<int64_t> offsets;
  for (const SizeSymbol &symbol : symbols)
    if (symbol.kind == SizeSymbolKind::Name) {
      auto [port, dim] = firstUse.lookup(symbol.name);
      offsets[symbol.name] = ArgsLayout::shape(*port, dim);
    }
  auto compute = [=, all = SmallVector<SizeSymbol>(symbols)](Emitter &e,
                                                             Value args) {
    return evaluateSize<Value>(
        size, all,
        [&](StringRef name) {
          return e.load(e.i64, args, offsets.lookup(name));
        },
        [&](bool isMax, Value a, Value b) {
          auto order = isMax ? ICmpPredicate::sgt : ICmpPredicate::slt;
          return e.select(LLVM::ICmpOp::create(e.b, order, a, b), a, b);
        },
        [&](AffineExpr sum, ArrayRef<Value> values) {
          return emitSum(e, sum, values);
        });
  };
  return {
      text + " is not " + written.str(), [=](Emitter &e, Value args) -> Value {
        Value given = e.load(e.i64, args, offset);
        Value differs = e.compare(ICmpPredicate::ne, given, compute(e, args));
        return LLVM::OrOp::create(e.b, differs,
                                  e.compare(ICmpPredicate::slt, given, 0));
      }};
}

std::vector<Check> entry::shapeChecks(ArrayRef<Port> ports) {
  std::vector<Check> checks;
  FirstUses firstUse;
  for (const Port &port : ports)
    for (int64_t dim = 0; dim < port.attr.getRank(); ++dim) {
      int64_t offset = ArgsLayout::shape(port, dim);
      std::string text = dimensionText(port, dim);
      if (int64_t size = port.attr.getSizes()[dim]; size >= 0) {
        checks.push_back({text + " is not " + std::to_string(size),
                          [=](Emitter &e, Value args) {
                            return e.compare(ICmpPredicate::ne,
                                             e.load(e.i64, args, offset), size);
                          }});
        continue;
      }
      StringRef symbol = port.attr.getSymbols()[dim];
      SmallVector<SizeSymbol> symbols;
      if (AffineExpr size =
              parseSizeText(symbol, port.attr.getContext(), symbols);
          size && (!isa<AffineSymbolExpr>(size) || symbols.size() > 1)) {
        checks.push_back(
            computedCheck(text, symbol, size, symbols, offset, firstUse));
        continue;
      }
      auto [use, isFirst] =
          firstUse.try_emplace(port.attr.getSymbols()[dim], &port, dim);
      if (isFirst) {
        checks.push_back({text + " is negative", [=](Emitter &e, Value args) {
                            return e.compare(ICmpPredicate::slt,
                                             e.load(e.i64, args, offset), 0);
                          }});
        continue;
      }
      auto [other, otherDim] = use->second;
      int64_t otherOffset = ArgsLayout::shape(*other, otherDim);
      text += (" is not the same as " +
               (other == &port ? "its" : other->attr.getName().str() + "'s") +
               " dimension " + Twine(otherDim))
                  .str();
      checks.push_back({text, [=](Emitter &e, Value args) {
                          return e.compare(ICmpPredicate::ne,
                                           e.load(e.i64, args, offset),
                                           e.load(e.i64, args, otherOffset));
                        }});
    }
  auto offsetOf = [&](Attribute symbol) {
    auto [port, dim] = firstUse.lookup(cast<StringAttr>(symbol));
    return ArgsLayout::shape(*port, dim);
  };
  for (const Port &port : ports) {
    SmallVector<SmallVector<int64_t>> readers;
    for (ArrayAttr symbols : port.attr.getNotEmpty())
      readers.emplace_back(llvm::map_range(symbols, offsetOf));
    if (!readers.empty())
      checks.push_back(tableCheck(port, readers));
  }
  return checks;
}

std::vector<Check> entry::memoryChecks(ArrayRef<Port> ports) {
  std::vector<Check> checks;
  auto add = [&](const Port &port, const Twine &text,
                 std::function<Value(Emitter &, Value)> isBroken) {
    checks.push_back({(port.attr.getName().getValue() + ": " + text).str(),
                      [&port, isBroken](Emitter &e, Value args) -> Value {
                        return LLVM::AndOp::create(e.b, isBroken(e, args),
                                                   hasElements(e, args, port));
                      }});
  };
  for (const Port &port : ports) {
    if (!port.attr.getOptional())
      add(port, "data is null", [&port](Emitter &e, Value args) {
        return e.compare(ICmpPredicate::eq,
                         e.load(e.i64, args, ArgsLayout::data(port)), 0);
      });
    int64_t bytes = findElementType(port.attr.getElementType())->bytes;
    if (bytes > 1)
      add(port, "data is not aligned to " + Twine(bytes) + " bytes",
          [&port, bytes](Emitter &e, Value args) {
            Value low = LLVM::AndOp::create(
                e.b, e.load(e.i64, args, ArgsLayout::data(port)),
                e.constant(e.i64, bytes - 1));
            return e.compare(ICmpPredicate::ne, low, 0);
          });
    for (int64_t dim = 0; !port.attr.getInput() && dim < port.attr.getRank();
         ++dim) {
      if (port.attr.getSizes()[dim] == 1)
        continue;
      add(port,
          "dimension " + Twine(dim) +
              " has stride 0, which only inputs may have",
          [&port, dim](Emitter &e, Value args) {
            Value stride = e.load(e.i64, args, ArgsLayout::stride(port, dim));
            Value size = e.load(e.i64, args, ArgsLayout::shape(port, dim));
            return Value(LLVM::AndOp::create(
                e.b, e.compare(ICmpPredicate::eq, stride, 0),
                e.compare(ICmpPredicate::sgt, size, 1)));
          });
    }
  }
  return checks;
}

Value entry::firstBroken(Emitter &e, ArrayRef<Check> checks, int32_t first,
                         Value args) {
  Value status = e.constant(e.i32, 0);
  for (int64_t i = static_cast<int64_t>(checks.size()); i-- > 0;) {
    Value isBroken = checks[i].isBroken(e, args);
    status = e.select(isBroken, e.constant(e.i32, first - i), status);
  }
  return status;
}

Type entry::findFixedStrides(func::FuncOp kernel, size_t ports) {
  for (Type type : kernel.getArgumentTypes().take_front(ports)) {
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(cast<MemRefType>(type).getStridesAndOffset(strides, offset)) ||
        !llvm::all_of(strides, ShapedType::isDynamic))
      return type;
  }
  return {};
}
