// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of a kernel's C interface that runs it on a GPU (attn-rt/gpu.h).
//
//   %failure = attn_rt_gpu_begin(@attn.gpu_module, @mha.gpu_ports, 4, %args,
//                                %there, %call)
//   // give up with a status, or
//   %space = attn_rt_gpu_take_workspace(%call, %args, %bytes)
//   @mha.gpu_kernel(tensors of %there.., %space, 1, %call)
//   %failure = attn_rt_gpu_end(%call)
#include "Entry.h"
#include "attn-rt/gpu.h"
#include "attn/Interface/ElementTypes.h"

using namespace mlir;
using namespace attn;
using namespace attn::entry;

std::vector<std::string> entry::gpuTexts() {
  std::vector<std::string> texts{
      "gpu: there is no NVIDIA driver (libcuda.so.1) on this machine",
      "gpu: the NVIDIA driver is older than what the kernels need",
      "gpu: the NVIDIA driver finds no device, or not the one asked for",
      "gpu: the device's compute capability is below 8.0",
      "gpu: tensors and stream are not all of one device's context",
      "gpu: the NVIDIA driver does not load the kernels",
      "gpu: out of memory",
      "gpu: the NVIDIA driver does not copy a tensor",
      "gpu: the NVIDIA driver does not launch a kernel",
      "gpu: a kernel failed while it ran, one of this call or before it"};
  assert(texts.size() == ATTN_RT_GPU_FAILURES - 1);
  return texts;
}

static LLVM::GlobalOp declareBytes(Emitter &e, StringRef name) {
  return LLVM::GlobalOp::create(e.b, LLVM::LLVMArrayType::get(e.i8, 0),
                                /*isConstant=*/true, LLVM::Linkage::External,
                                name, Attribute());
}

/// @attn.gpu_module: all kernels of the object, which the compiler fills in.
static LLVM::GlobalOp gpuModule(Emitter &e) {
  if (auto there = e.module.lookupSymbol<LLVM::GlobalOp>("attn.gpu_module"))
    return there;
  std::string names;
  int64_t count = 0;
  for (auto kernels : e.module.getOps<ModuleOp>())
    for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>())
      if (kernel->hasAttr("nvvm.kernel")) {
        names += kernel.getName().str() + '\0';
        ++count;
      }
  LLVM::GlobalOp nameTable = e.bytes("attn.gpu_names", names + '\0');
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToEnd(e.module.getBody());
  LLVM::GlobalOp ptx = declareBytes(e, gpuPTX),
                 cubin = declareBytes(e, gpuCubin);
  auto type = LLVM::LLVMStructType::getLiteral(
      e.b.getContext(), {e.ptr, e.ptr, e.ptr, e.i32, e.i32, e.ptr});
  auto global = LLVM::GlobalOp::create(e.b, type, /*isConstant=*/false,
                                       LLVM::Linkage::Internal,
                                       "attn.gpu_module", Attribute());
  e.b.createBlock(&global.getInitializerRegion());
  Value value = LLVM::ZeroOp::create(e.b, type);
  int64_t field = 0;
  for (Value part :
       {e.address(ptx), e.address(cubin), e.address(nameTable),
        e.constant(e.i32, count), e.constant(e.i32, /*capability=*/80)})
    value = LLVM::InsertValueOp::create(e.b, value, part, field++);
  e.returnValue(value);
  return global;
}

/// One attn_rt_gpu_port for each port.
static LLVM::GlobalOp portTable(Emitter &e, StringRef kernel,
                                ArrayRef<Port> ports) {
  static_assert(sizeof(attn_rt_gpu_port) == 3 * sizeof(int32_t));
  SmallVector<int32_t> numbers;
  for (const Port &port : ports) {
    numbers.push_back(static_cast<int32_t>(port.attr.getRank()));
    numbers.push_back(static_cast<int32_t>(
        findElementType(port.attr.getElementType())->bytes));
    numbers.push_back(port.attr.getInput());
  }
  auto count = static_cast<int64_t>(numbers.size());
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToEnd(e.module.getBody());
  return LLVM::GlobalOp::create(
      e.b, LLVM::LLVMArrayType::get(e.i32, count), /*isConstant=*/true,
      LLVM::Linkage::Private, (kernel + ".gpu_ports").str(),
      DenseElementsAttr::get(RankedTensorType::get(count, e.i32),
                             ArrayRef<int32_t>(numbers)));
}

Value entry::isForGPU(Emitter &e, ArrayRef<Port> ports, Value args) {
  auto choose =
      e.declare("attn_rt_gpu_is_chosen", e.i32, {e.ptr, e.i32, e.ptr});
  Value count = e.constant(e.i32, static_cast<int64_t>(ports.size()));
  Value chosen = e.call(choose, {e.address(gpuModule(e)), count, args});
  return e.compare(LLVM::ICmpPredicate::ne, chosen, 0);
}

GPUCall entry::beginGPUCall(Emitter &e, StringRef kernel, ArrayRef<Port> ports,
                            const ArgsLayout &layout, Value args) {
  auto begin = e.declare("attn_rt_gpu_begin", e.i32,
                         {e.ptr, e.ptr, e.i32, e.ptr, e.ptr, e.ptr});
  auto room = [&](int64_t bytes) -> Value {
    return LLVM::AllocaOp::create(e.b, e.ptr, e.i8, e.constant(e.i64, bytes),
                                  alignof(attn_rt_gpu_call));
  };
  auto count = static_cast<int64_t>(ports.size());
  GPUCall call;
  call.args = room(layout.size());
  call.call = room(static_cast<int64_t>(sizeof(attn_rt_gpu_call)) +
                   count * static_cast<int64_t>(sizeof(attn_rt_gpu_copy)));
  Value module = e.address(gpuModule(e));
  Value table = e.address(portTable(e, kernel, ports));
  call.failure = e.call(begin, {module, table, e.constant(e.i32, count), args,
                                call.args, call.call});
  return call;
}

Value entry::takeGPUWorkspace(Emitter &e, const GPUCall &call, Value args,
                              Value bytes) {
  auto take =
      e.declare("attn_rt_gpu_take_workspace", e.ptr, {e.ptr, e.ptr, e.i64});
  return e.call(take, {call.call, args, bytes});
}

Value entry::endGPUCall(Emitter &e, const GPUCall &call) {
  return e.call(e.declare("attn_rt_gpu_end", e.i32, e.ptr), call.call);
}

void entry::returnIfGPUFailed(Emitter &e, Value failure, int32_t first) {
  Value status =
      LLVM::SubOp::create(e.b, e.constant(e.i32, first + 1), failure);
  e.returnIf(e.compare(LLVM::ICmpPredicate::ne, failure, 0), status);
}

void entry::giveUpIf(Emitter &e, const GPUCall &call, Value condition,
                     Value status, int32_t first) {
  Region *region = e.b.getInsertionBlock()->getParent();
  Block *here = e.b.getInsertionBlock();
  Block *leave = e.b.createBlock(region, region->end());
  Block *next = e.b.createBlock(region, region->end());
  e.b.setInsertionPointToEnd(here);
  LLVM::CondBrOp::create(e.b, condition, leave, next);
  e.b.setInsertionPointToEnd(leave);
  auto giveUp = e.declare("attn_rt_gpu_give_up", e.i32, e.ptr);
  returnIfGPUFailed(e, e.call(giveUp, call.call), first);
  e.returnValue(status);
  e.b.setInsertionPointToEnd(next);
}
