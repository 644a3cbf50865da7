// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments that a caller leaves out: `data` is null, and all else may be 0.
//
// Such a tensor gets the sizes that its dimensions have elsewhere, strides of 0
// and the address of a zero, in a copy of the argument struct; checks and the
// kernel see that one.
#include "Entry.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace attn;
using namespace attn::entry;
using LLVM::ICmpPredicate;

/// As many bytes as a kernel may read at one address.
static constexpr int64_t zeroBytes = 64;

static Value addressOfZeros(Emitter &e, StringRef kernel) {
  LLVM::GlobalOp zeros =
      e.bytes((kernel + ".zeros").str(), std::string(zeroBytes, '\0'));
  zeros.setAlignment(zeroBytes);
  return e.address(zeros);
}

/// Where in the argument struct each name of a size has its number.
static llvm::StringMap<int64_t> placesOfSizes(ArrayRef<Port> ports) {
  llvm::StringMap<int64_t> places;
  for (const Port &port : ports)
    for (int64_t dim = 0; !port.attr.getOptional() && dim < port.attr.getRank();
         ++dim)
      places.try_emplace(port.attr.getSymbols()[dim],
                         ArgsLayout::shape(port, dim));
  return places;
}

/// Completes the port in `room`, if it is absent.
static void fillPort(Emitter &e, const Port &port, Value room, Value zeros,
                     const llvm::StringMap<int64_t> &places) {
  Value data = e.load(e.ptr, room, ArgsLayout::data(port));
  Value isAbsent = e.compare(ICmpPredicate::eq, data, e.null());
  auto choose = [&](Value filled, Type type, int64_t offset) {
    Value given = e.load(type, room, offset);
    e.store(e.select(isAbsent, filled, given), room, offset);
  };
  choose(zeros, e.ptr, ArgsLayout::data(port));
  for (int64_t dim = 0; dim < port.attr.getRank(); ++dim) {
    choose(e.constant(e.i64, 0), e.i64, ArgsLayout::stride(port, dim));
    int64_t size = port.attr.getSizes()[dim];
    int64_t offset = ArgsLayout::shape(port, dim);
    auto place = places.find(port.attr.getSymbols()[dim]);
    if (size >= 0)
      choose(e.constant(e.i64, size), e.i64, offset);
    else if (place != places.end())
      choose(e.load(e.i64, room, place->second), e.i64, offset);
  }
}

/// @mha.fill_absent: `room`, where `args` stand completed; or `args` that are
/// too few to read.
static LLVM::LLVMFuncOp emitFill(Emitter &e, StringRef kernel,
                                 ArrayRef<Port> ports, const ArgsLayout &layout,
                                 bool withGPU) {
  OpBuilder::InsertionGuard guard(e.b);
  std::string name = (kernel + ".fill_absent").str();
  bool isThere = e.module.lookupSymbol(name);
  LLVM::LLVMFuncOp fill = e.declare(name, e.ptr, {e.ptr, e.ptr});
  if (isThere)
    return fill;
  fill.setLinkage(LLVM::Linkage::Internal);
  Value args = e.begin(fill), room = fill.getArgument(1);
  e.returnIf(e.compare(ICmpPredicate::eq, args, e.null()), args);
  e.returnIf(
      e.compare(ICmpPredicate::ult, e.load(e.i64, args, 0), layout.size()),
      args);
  Value bytes = e.constant(e.i64, layout.size());
  if (withGPU) { // as much of the rest as the caller has
    Value most = e.constant(e.i64, layout.sizeWithGPU());
    Value size = e.load(e.i64, args, 0);
    bytes = e.select(e.compare(ICmpPredicate::ult, size, layout.sizeWithGPU()),
                     size, most);
  }
  LLVM::MemcpyOp::create(e.b, room, args, bytes, /*isVolatile=*/false);
  Value zeros = addressOfZeros(e, kernel);
  llvm::StringMap<int64_t> places = placesOfSizes(ports);
  for (const Port &port : ports)
    if (port.attr.getOptional())
      fillPort(e, port, room, zeros, places);
  e.returnValue(room);
  return fill;
}

Value entry::fillAbsent(Emitter &e, StringRef kernel, ArrayRef<Port> ports,
                        Value args, bool withGPU) {
  if (llvm::none_of(ports,
                    [](const Port &port) { return port.attr.getOptional(); }))
    return args;
  ArgsLayout layout{static_cast<int64_t>(ports.size())};
  LLVM::LLVMFuncOp fill = emitFill(e, kernel, ports, layout, withGPU);
  int64_t size = withGPU ? layout.sizeWithGPU() : layout.size();
  Value room = LLVM::AllocaOp::create(e.b, e.ptr, e.i8, e.constant(e.i64, size),
                                      alignof(attn_rt_call));
  return e.call(fill, {args, room});
}
