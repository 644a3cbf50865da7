// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Interface/KernelSignature.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace attn;

static StringRef suffixOf(Part part) {
  static constexpr StringLiteral suffixes[] = {
      ".kernel",       ".workspace",  ".flops",         ".slices",    ".items",
      ".check_shapes", ".gpu_kernel", ".gpu_workspace", ".gpu_slices"};
  return suffixes[static_cast<size_t>(part)];
}

std::string attn::partName(StringRef name, Part part) {
  return (name + suffixOf(part)).str();
}

/// The types of what follows the ports.
static SmallVector<Type> typesBehindPorts(MLIRContext *context) {
  return {MemRefType::get({ShapedType::kDynamic}, IntegerType::get(context, 8)),
          IndexType::get(context), LLVM::LLVMPointerType::get(context)};
}

std::optional<KernelSignature> KernelSignature::of(func::FuncOp function) {
  if (!function.getName().ends_with(suffixOf(Part::Kernel)) ||
      function.isExternal())
    return std::nullopt;
  SmallVector<Type> others = typesBehindPorts(function.getContext());
  ArrayRef<Type> types = function.getArgumentTypes();
  if (types.size() < others.size() ||
      types.take_back(others.size()) != ArrayRef(others))
    return std::nullopt;
  return KernelSignature(function);
}

std::vector<KernelSignature> KernelSignature::all(ModuleOp module) {
  std::vector<KernelSignature> kernels;
  for (auto function : module.getOps<func::FuncOp>())
    if (std::optional<KernelSignature> kernel = of(function))
      kernels.push_back(*kernel);
  return kernels;
}

void KernelSignature::make(func::FuncOp function) {
  for (Type type : typesBehindPorts(function.getContext()))
    function.front().addArgument(type, function.getLoc());
  function.setName(partName(function.getName(), Part::Kernel));
}

StringRef KernelSignature::getName() const {
  return function.getName().drop_back(suffixOf(Part::Kernel).size());
}

func::FuncOp KernelSignature::lookup(Part part) const {
  return function->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(
      partName(getName(), part));
}

/// The port that `memory` is; null for anything else.
static PortAttr portOf(Value memory) {
  auto argument = dyn_cast<BlockArgument>(memory);
  auto ports =
      argument ? argument.getOwner()->getParentOp()->getAttrOfType<ArrayAttr>(
                     PortAttr::functionAttr)
               : ArrayAttr();
  return ports && argument.getArgNumber() < ports.size()
             ? cast<PortAttr>(ports[argument.getArgNumber()])
             : PortAttr();
}

bool attn::mayBeOneMemory(Value a, Value b) {
  PortAttr x = portOf(a), y = portOf(b);
  return a == b || (x && y &&
                    (llvm::is_contained(x.getOverlaps(), y.getName()) ||
                     llvm::is_contained(y.getOverlaps(), x.getName())));
}
