// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-emit-entry: the C functions of every kernel.
//
// A kernel is three private functions on memrefs:
//   @mha.kernel(inputs.., outputs.., %workspace: memref<?xi8>, %threads: index,
//               %call: !llvm.ptr) attributes {attn.ports = [...]}
//   @mha.workspace(inputs.., outputs.., %threads: index) -> index    // bytes
//   @mha.flops(inputs..) -> f64
//   @mha.slices(inputs..) -> i32    // what is wrong with them; not always
//   @mha.gpu_slices(inputs.., %call) -> i32    // the same on a GPU
// A kernel that launches others on a GPU (`attn.launches`) is there instead, or
// as @mha.gpu_kernel with @mha.gpu_workspace beside it; then the runtime
// chooses. A C program sees `int32_t mha(const mha_args *)` and its four
// companions (include/attn-rt/attn.h, program.h). Between the two stands what
// is emitted here: every rule for the arguments is checked, and its status
// returned; what the caller left out (threads, loop, work space) is filled in;
// the descriptors of the memrefs are made from attn_tensor.
//
// Before: memrefs with any strides and any control flow. After: the same, and
// the C functions in the LLVM dialect; every private function with a body has
// internal linkage. The texts of the statuses stand on the entry as
// `attn.statuses`.
#include "Entry.h"
#include "attn/Interface/CNames.h"
#include "attn/Interface/ElementTypes.h"
#include "attn/Interface/KernelSignature.h"
#include "attn/Interface/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace attn {
#define GEN_PASS_DEF_EMITENTRY
#include "attn/Interface/Passes.h.inc"
} // namespace attn

using namespace attn;
using namespace attn::entry;
using LLVM::ICmpPredicate;

namespace {

/// Emits the functions of one kernel.
struct EntryOfKernel {
  Emitter e;
  std::string name;
  func::FuncOp kernel, workspace, flops, slices; ///< the first two of a CPU
  func::FuncOp gpuKernel, gpuWorkspace, gpuSlices;
  ArrayRef<Port> ports;
  ArgsLayout layout;
  std::vector<Check> shapes, memory;
  std::vector<std::string> weights; ///< what may be wrong with their file
  LLVM::LLVMFuncOp checkShapes;

  EntryOfKernel(ModuleOp module, const KernelSignature &signature,
                ArrayRef<Port> ports)
      : e(signature.getFunction().getLoc(), module), name(signature.getName()),
        kernel(signature.getFunction()),
        workspace(signature.lookup(Part::Workspace)),
        flops(signature.lookup(Part::Flops)),
        slices(signature.lookup(Part::Slices)),
        gpuKernel(signature.lookup(Part::GPUKernel)),
        gpuWorkspace(signature.lookup(Part::GPUWorkspace)),
        gpuSlices(signature.lookup(Part::GPUSlices)), ports(ports),
        layout{static_cast<int64_t>(ports.size())}, shapes(shapeChecks(ports)),
        memory(memoryChecks(ports)), weights(weightsTexts(module)) {
    if (!kernel->hasAttr(launchesAttr))
      return;
    std::swap(kernel, gpuKernel);
    std::swap(workspace, gpuWorkspace);
  }

  int32_t firstMemoryStatus() const {
    return FirstOwn - static_cast<int32_t>(shapes.size());
  }
  int32_t firstSlicesStatus() const {
    return firstMemoryStatus() - static_cast<int32_t>(memory.size());
  }
  /// What may be wrong with slices.
  ArrayRef<Attribute> sliceTexts() const {
    func::FuncOp asked = slices ? slices : gpuSlices;
    auto texts =
        asked ? asked->getAttrOfType<ArrayAttr>(brokenAttr) : ArrayAttr();
    return texts ? texts.getValue() : ArrayRef<Attribute>();
  }
  int32_t firstWeightsStatus() const {
    return firstSlicesStatus() - static_cast<int32_t>(sliceTexts().size());
  }
  int32_t firstGPUStatus() const {
    return firstWeightsStatus() - static_cast<int32_t>(weights.size());
  }

  /// Begins a function that takes the argument struct.
  Value begin(CName which, Type result) {
    Value args = e.begin(e.declare(cName(name, which), result, e.ptr));
    return fillAbsent(e, name, ports, args, bool(gpuKernel));
  }

  /// What the caller chose: a member of attn_rt_call.
  Value loadOfCall(Type type, Value args, int64_t offset) {
    return e.load(type, args, layout.call() + offset);
  }

  SmallVector<Value> memRefs(Value args, func::FuncOp callee) {
    SmallVector<Value> values;
    for (const Port &port : ports)
      if (values.size() < callee.getNumArguments() &&
          (llvm::is_contained({kernel, workspace, gpuKernel, gpuWorkspace},
                              callee) ||
           port.attr.getInput()))
        values.push_back(makeMemRef(e, args, port,
                                    callee.getArgumentTypes()[values.size()]));
    return values;
  }

  Value toIndex(Value value) {
    return arith::IndexCastOp::create(e.b, e.b.getIndexType(), value);
  }

  /// Number of threads that the caller asked for, or all there are. More than
  /// the built-in pool takes would only cost work space.
  Value threads(Value args) {
    auto maximum = e.declare("attn_rt_max_threads", e.i32, {});
    Value asked = loadOfCall(e.i32, args, offsetof(attn_rt_call, threads));
    Region *region = e.b.getInsertionBlock()->getParent();
    Block *here = e.b.getInsertionBlock();
    Block *all = e.b.createBlock(region, region->end());
    Block *next = e.b.createBlock(region, region->end(), e.i32, e.b.getLoc());
    e.b.setInsertionPointToEnd(here);
    LLVM::CondBrOp::create(e.b, e.compare(ICmpPredicate::sgt, asked, 0), next,
                           asked, all, ValueRange());
    e.b.setInsertionPointToEnd(all);
    LLVM::BrOp::create(e.b, e.call(maximum, {}), next);
    e.b.setInsertionPointToEnd(next);
    Value count = next->getArgument(0);
    return e.select(e.compare(ICmpPredicate::slt, count, mostThreads), count,
                    e.constant(e.i32, mostThreads));
  }
  static constexpr int64_t mostThreads = 1024;

  /// Bytes that the kernel wants, and bytes to ask for so that the start can be
  /// aligned to a cache line.
  std::pair<Value, Value> workspaceBytes(func::FuncOp workspace, Value args,
                                         Value threads) {
    SmallVector<Value> operands = memRefs(args, workspace);
    operands.push_back(toIndex(threads));
    Value needed = func::CallOp::create(e.b, workspace, operands).getResult(0);
    needed = arith::IndexCastOp::create(e.b, e.i64, needed);
    Value zero = e.constant(e.i64, 0);
    Value padded =
        LLVM::AddOp::create(e.b, needed, e.constant(e.i64, workspaceAlignment));
    return {needed,
            e.select(e.compare(ICmpPredicate::eq, needed, 0), zero, padded)};
  }

  void emitCheckShapes();
  void emitRun();
  void emitCheckSlices(Value args);
  Value slicesStatus(Value broken);
  void emitRunOnCPU(Value args);
  void emitRunOnGPU(Value args);
  void emitWorkspaceSize();
  void emitFlops();
  void emitInfo(LLVM::GlobalOp text);
  void emitLoadWeights();
  std::vector<std::string> statusTexts() const;
  void emitKernelCall(Value args, Value threads, Value space, Value bytes);
};

/// @mha.check_shapes: 0, or the status of the first broken rule.
void EntryOfKernel::emitCheckShapes() {
  checkShapes = e.declare(partName(name, Part::CheckShapes), e.i32, e.ptr);
  checkShapes.setLinkage(LLVM::Linkage::Internal);
  Value args = e.begin(checkShapes);
  e.returnIf(e.compare(ICmpPredicate::eq, args, e.null()),
             e.constant(e.i32, ArgsAreNull));
  e.returnIf(
      e.compare(ICmpPredicate::ult, e.load(e.i64, args, 0), layout.size()),
      e.constant(e.i32, ArgsTooSmall));
  e.returnValue(firstBroken(e, shapes, FirstOwn, args));
}

void EntryOfKernel::emitKernelCall(Value args, Value threads, Value space,
                                   Value bytes) {
  Value start = alignWorkspace(e, space);

  // The caller's settings with nothing left out.
  auto parallel = e.declare("attn_rt_parallel_for",
                            LLVM::LLVMVoidType::get(e.b.getContext()),
                            {e.ptr, e.i64, e.i32, e.ptr, e.ptr});
  Value loop = loadOfCall(e.ptr, args, offsetof(attn_rt_call, parallel_for));
  loop = e.select(e.compare(ICmpPredicate::eq, loop, e.null()),
                  LLVM::AddressOfOp::create(e.b, parallel), loop);
  Value call = LLVM::AllocaOp::create(e.b, e.ptr, e.i8,
                                      e.constant(e.i64, sizeof(attn_rt_call)),
                                      alignof(attn_rt_call));
  int64_t context = offsetof(attn_rt_call, parallel_context);
  e.store(start, call, offsetof(attn_rt_call, workspace));
  e.store(bytes, call, offsetof(attn_rt_call, workspace_size));
  e.store(loop, call, offsetof(attn_rt_call, parallel_for));
  e.store(loadOfCall(e.ptr, args, context), call, context);
  e.store(threads, call, offsetof(attn_rt_call, threads));

  SmallVector<Value> operands = memRefs(args, kernel);
  operands.push_back(
      makeBuffer(e, start, bytes, kernel.getArgumentTypes()[operands.size()]));
  operands.push_back(toIndex(threads));
  operands.push_back(call);
  func::CallOp::create(e.b, kernel, operands);
}

void EntryOfKernel::emitRun() {
  Value args = begin(CName::Run, e.i32);
  for (bool ofShapes : {true, false}) {
    Value status = ofShapes ? e.call(checkShapes, args)
                            : firstBroken(e, memory, firstMemoryStatus(), args);
    e.returnIf(e.compare(ICmpPredicate::ne, status, 0), status);
  }
  if (!gpuSlices)
    emitCheckSlices(args);
  if (!weights.empty()) {
    Value status = mapWeights(e, e.null(), firstWeightsStatus());
    e.returnIf(e.compare(ICmpPredicate::ne, status, 0), status);
  }
  if (gpuKernel && kernel) {
    Region *region = e.b.getInsertionBlock()->getParent();
    Block *here = e.b.getInsertionBlock();
    Block *onGPU = e.b.createBlock(region, region->end());
    Block *onCPU = e.b.createBlock(region, region->end());
    e.b.setInsertionPointToEnd(here);
    LLVM::CondBrOp::create(e.b, isForGPU(e, ports, args), onGPU, onCPU);
    e.b.setInsertionPointToEnd(onGPU);
    emitRunOnGPU(args);
    e.b.setInsertionPointToEnd(onCPU);
  } else if (gpuKernel) {
    emitRunOnGPU(args);
    return;
  }
  if (gpuSlices)
    emitCheckSlices(args);
  emitRunOnCPU(args);
}

void EntryOfKernel::emitCheckSlices(Value args) {
  if (!slices)
    return;
  Value broken =
      func::CallOp::create(e.b, slices, memRefs(args, slices)).getResult(0);
  e.returnIf(e.compare(ICmpPredicate::ne, broken, 0), slicesStatus(broken));
}

/// That of the rule of number `broken`, from 1.
Value EntryOfKernel::slicesStatus(Value broken) {
  Value before = e.constant(e.i32, firstSlicesStatus() + 1);
  return LLVM::SubOp::create(e.b, before, broken);
}

void EntryOfKernel::emitRunOnGPU(Value args) {
  GPUCall call = beginGPUCall(e, name, ports, layout, args);
  returnIfGPUFailed(e, call.failure, firstGPUStatus());
  if (gpuSlices) {
    SmallVector<Value> operands = memRefs(args, gpuSlices);
    operands.push_back(call.call);
    Value broken = func::CallOp::create(e.b, gpuSlices, operands).getResult(0);
    giveUpIf(e, call, e.compare(ICmpPredicate::ne, broken, 0),
             slicesStatus(broken), firstGPUStatus());
  }
  Value one = e.constant(e.i32, 1);
  auto [needed, bytes] = workspaceBytes(gpuWorkspace, call.args, one);
  Value start = alignWorkspace(e, takeGPUWorkspace(e, call, args, bytes));
  SmallVector<Value> operands = memRefs(call.args, gpuKernel);
  operands.push_back(makeBuffer(e, start, needed,
                                gpuKernel.getArgumentTypes()[operands.size()]));
  operands.push_back(toIndex(one));
  operands.push_back(call.call);
  func::CallOp::create(e.b, gpuKernel, operands);
  returnIfGPUFailed(e, endGPUCall(e, call), firstGPUStatus());
  e.returnValue(e.constant(e.i32, 0));
}

void EntryOfKernel::emitRunOnCPU(Value args) {
  Value count = threads(args);
  auto [needed, bytes] = workspaceBytes(workspace, args, count);
  auto [space, owned] = takeWorkspace(e, layout, args, bytes);
  emitKernelCall(args, count, space, needed);
  e.call(e.declare("attn_rt_give_workspace",
                   LLVM::LLVMVoidType::get(e.b.getContext()), e.ptr),
         owned);
  e.returnValue(e.constant(e.i32, 0));
}

/// Wrong shapes have no work space and no work: both functions return 0 then.
void EntryOfKernel::emitWorkspaceSize() {
  Value args = begin(CName::WorkspaceSize, e.i64);
  e.returnIf(e.compare(ICmpPredicate::ne, e.call(checkShapes, args), 0),
             e.constant(e.i64, 0));
  Value most;
  if (kernel)
    most = workspaceBytes(workspace, args, threads(args)).second;
  if (gpuKernel) {
    Value one = e.constant(e.i32, 1);
    Value bytes = workspaceBytes(gpuWorkspace, args, one).second;
    most =
        most ? e.select(e.compare(ICmpPredicate::ult, most, bytes), bytes, most)
             : bytes;
  }
  // A size below 0, which the call refuses, would be a space that no machine
  // has; so might be others.
  if (slices || gpuSlices)
    most = e.select(e.compare(ICmpPredicate::ult, most,
                              e.constant(e.i64, int64_t(1) << 48)),
                    most, e.constant(e.i64, 0));
  e.returnValue(most);
}

void EntryOfKernel::emitFlops() {
  Type f64 = e.b.getF64Type();
  Value args = begin(CName::Flops, f64);
  Value zero = LLVM::ConstantOp::create(e.b, f64, e.b.getF64FloatAttr(0));
  e.returnIf(e.compare(ICmpPredicate::ne, e.call(checkShapes, args), 0), zero);
  e.returnValue(
      func::CallOp::create(e.b, flops, memRefs(args, flops)).getResult(0));
}

std::vector<std::string> EntryOfKernel::statusTexts() const {
  std::vector<std::string> texts{
      "success", "args: is null",
      "args: size is smaller than sizeof(" + cName(name, CName::Args) + ")",
      "workspace: workspace_size is smaller than " +
          cName(name, CName::WorkspaceSize) + "(args)",
      "workspace: out of memory"};
  for (const auto &checks : {shapes, memory})
    for (const Check &check : checks)
      texts.push_back(check.text);
  for (Attribute text : sliceTexts())
    texts.push_back(cast<StringAttr>(text).str());
  llvm::append_range(texts, weights);
  if (gpuKernel)
    llvm::append_range(texts, gpuTexts());
  return texts;
}

void EntryOfKernel::emitInfo(LLVM::GlobalOp text) {
  e.begin(e.declare(cName(name, CName::Info), e.ptr, {}));
  e.returnValue(e.address(text));
}

/// Maps the file of weights at a path of the caller's.
void EntryOfKernel::emitLoadWeights() {
  if (weights.empty())
    return;
  Value path =
      e.begin(e.declare(cName(name, CName::LoadWeights), e.i32, e.ptr));
  e.returnValue(mapWeights(e, path, firstWeightsStatus()));
}

struct EmitEntry : attn::impl::EmitEntryBase<EmitEntry> {
  using EmitEntryBase::EmitEntryBase;

  LLVM::GlobalOp infoText;

  LogicalResult emitOne(const KernelSignature &signature) {
    func::FuncOp kernel = signature.getFunction();
    SmallVector<Port> ports = portsOf(kernel);
    EntryOfKernel entry(getOperation(), signature, ports);
    if ((entry.kernel && !entry.workspace) ||
        (entry.gpuKernel && !entry.gpuWorkspace) || !entry.flops)
      return kernel.emitError()
             << "expects '" << partName(entry.name, Part::Workspace)
             << "' and '" << partName(entry.name, Part::Flops)
             << "' beside the kernel";
    for (const Port &port : ports)
      if (!findElementType(port.attr.getElementType()))
        return kernel.emitError()
               << "expects elements of " << elementTypeNames() << ", but got "
               << port.attr;
    for (func::FuncOp body : {entry.kernel, entry.gpuKernel})
      if (Type type = body ? findFixedStrides(body, ports.size()) : Type())
        return kernel.emitError()
               << "expects arguments of any strides, but got " << type;
    if (getOperation().lookupSymbol(entry.name))
      return kernel.emitError()
             << "expects no other '" << entry.name << "' in the module";
    if (tiles && multipliesTiles(getOperation(), entry.name))
      entry.memory.push_back(tilesCheck());
    std::vector<std::string> texts = entry.statusTexts();
    entry.emitCheckShapes();
    entry.emitRun();
    entry.emitWorkspaceSize();
    entry.emitFlops();
    emitStrerror(entry.e, entry.name, texts);
    // It tells of the whole input, which may hold many kernels.
    if (!infoText)
      infoText = entry.e.bytes(entry.name + ".info",
                               infoOfFunctions(getOperation(), info) + '\0');
    entry.emitInfo(infoText);
    entry.emitLoadWeights();
    // Of a program's own kernel, which no C program calls, nothing is told.
    if (PictureAttr::of(kernel))
      return success();
    auto run = getOperation().lookupSymbol<LLVM::LLVMFuncOp>(entry.name);
    SmallVector<StringRef> references(texts.begin(), texts.end());
    run->setAttr("attn.statuses", entry.e.b.getStrArrayAttr(references));
    run->setAttr(PortAttr::functionAttr,
                 kernel->getAttr(PortAttr::functionAttr));
    return success();
  }

  /// Kernels of a program: its own, and perhaps the one of steps.
  LogicalResult emitProgram(ArrayRef<KernelSignature> kernels) {
    const KernelSignature *main = nullptr, *steps = nullptr;
    for (const KernelSignature &kernel : kernels)
      (PictureAttr::of(kernel.getFunction()) ? steps : main) = &kernel;
    if (!main || kernels.size() != (steps ? 2 : 1))
      return getOperation().emitError()
             << "expects one kernel in a program, but got " << kernels.size();
    Emitter e(main->getFunction().getLoc(), getOperation());
    bool withGPU = main->getFunction()->hasAttr(launchesAttr) ||
                   main->lookup(Part::GPUKernel);
    entry::emitMain(e, *main, steps, specificationIn(info), withGPU);
    return success();
  }

  void runOnOperation() override {
    infoText = {};
    std::vector<KernelSignature> kernels = KernelSignature::all(getOperation());
    for (const KernelSignature &kernel : kernels)
      if (failed(emitOne(kernel)))
        return signalPassFailure();
    if (emitMain && failed(emitProgram(kernels)))
      return signalPassFailure();
    auto internal =
        LLVM::LinkageAttr::get(&getContext(), LLVM::Linkage::Internal);
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPrivate() && !function.isExternal())
        function->setAttr("llvm.linkage", internal);
  }
};
} // namespace
