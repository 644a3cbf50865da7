// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Target/Header.h"
#include "attn/Dialect/Attn/IR/AttnAttributes.h"
#include "attn/Interface/CNames.h"
#include "attn/Interface/ElementTypes.h"
#include "attn/Target/Kernels.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attn;
using llvm::raw_ostream;

/// The part of attn-rt/attn.h that callers of a kernel need.
static const char abiBlock[] =
#include "AbiBlock.inc"
    ;

/// "(q0, 8, q2, 64)".
static std::string shapeText(PortAttr port) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(llvm::seq(port.getRank()), os,
                        [&](int64_t dim) { os << port.sizeText(dim); });
  return "(" + text + ")";
}

static void printPort(raw_ostream &os, PortAttr port) {
  os << "  /* " << (port.getInput() ? "Argument" : "Result") << ": "
     << findElementType(port.getElementType())->cType;
  if (port.getRank() == 0)
    os << ", one value (rank 0)";
  else
    os << ", shape " << shapeText(port) << ", any strides";
  if (port.getOptional())
    os << ";\n   * data may be null, which is a tensor of zeros";
  if (!port.getOverlaps().empty()) {
    os << ";\n   * may be the memory of ";
    llvm::interleave(
        port.getOverlaps(), os, [&](StringAttr name) { os << name.getValue(); },
        " or ");
  }
  os << " */\n  attn_tensor " << port.getName().getValue() << ";\n";
}

static void printStruct(raw_ostream &os, StringRef name,
                        ArrayRef<PortAttr> ports, bool withGPU) {
  std::string args = cName(name, CName::Args);
  os << "typedef struct {\n"
        "  /* sizeof("
     << args << "): which version of this struct the caller has */\n"
     << "  size_t size;\n";
  for (PortAttr port : ports)
    printPort(os, port);
  os << "  /* Scratch memory of " << cName(name, CName::WorkspaceSize)
     << "(args) bytes at any address.\n"
        "   * Null, 0: allocated and freed inside. */\n"
        "  void *workspace;\n"
        "  size_t workspace_size;\n"
        "  /* How to run a loop on several threads. Null: the built-in pool. "
        "*/\n"
        "  attn_parallel_for parallel_for;\n"
        "  void *parallel_context;\n"
        "  /* Number of threads. 0: all processors this process may use. */\n"
        "  int32_t threads;\n";
  if (withGPU)
    os << "  /* 0: that of the stream, of a tensor, or of the context; n: GPU "
          "n "
          "- 1;\n"
          "   * -1: the CPU, where the object has code of it. */\n"
          "  int32_t device;\n"
          "  /* A CUstream or cudaStream_t. Null: the default stream. */\n"
          "  void *stream;\n";
  os << "} " << args << ";\n\n";
}

/// Where tensors may lie, and when they are there.
static void printGPU(raw_ostream &os) {
  os << "/* Tensors lie in memory of the device or of the host. Where all lie "
        "on "
        "the device\n * the kernels run on the stream, and may run still when "
        "the "
        "call returns; others\n * are copied, and then the results are there. "
        "*/\n";
}

static void printFunctions(raw_ostream &os, StringRef name,
                           ArrayRef<PortAttr> ports, ArrayAttr statuses,
                           bool hasWeights) {
  std::string args = "(const " + cName(name, CName::Args) + " *args);\n";
  os << "/* Computes the results. Returns 0, or one of these, and then no "
        "result has been\n * written:\n";
  for (auto [i, text] : llvm::enumerate(statuses.getAsValueRange<StringAttr>()))
    if (i > 0)
      os << " *   " << (i < 10 ? " -" : "-") << i << "  " << text << "\n";
  bool inPlace = llvm::any_of(
      ports, [](PortAttr port) { return !port.getOverlaps().empty(); });
  os << " * Results must overlap neither arguments"
     << (inPlace ? ", but for those that they name,\n * nor" : " nor")
     << " each other. It may be called from"
     << (inPlace ? " several threads at once. */\n"
                 : "\n * several threads at once. */\n")
     << "int32_t " << name << args << "\n"
     << "/* Bytes of scratch memory for arguments of these shapes and this "
        "number of\n * threads; 0 if the shapes are wrong. Data may be null. "
        "*/\n"
     << "size_t " << cName(name, CName::WorkspaceSize) << args << "\n"
     << "/* What a status means: which argument, and which rule it breaks. "
        "*/\n"
     << "const char *" << cName(name, CName::Strerror)
     << "(int32_t status);\n\n"
     << "/* How the kernel was made, as JSON. */\n"
     << "const char *" << cName(name, CName::Info) << "(void);\n\n"
     << "/* Floating-point operations that arguments of these shapes need. "
        "*/\n"
     << "double " << cName(name, CName::Flops) << args;
  if (hasWeights)
    os << "/* Maps the weights' file at `path`, or where it is looked for "
          "without one (null), as\n * the first call does. Returns 0, also "
          "when they are there, or a status. */\n"
       << "int32_t " << cName(name, CName::LoadWeights)
       << "(const char *path);\n";
}

static bool isDeclared(Operation &op) {
  return !PortAttr::of(&op).empty() && op.hasAttr("attn.statuses");
}

/// Headers of one name in several folders have their functions in it.
static std::string guardOf(ModuleOp module, StringRef name) {
  std::string guard = "ATTN_KERNELS_";
  for (char c : name)
    guard += llvm::isAlnum(c) ? llvm::toUpper(c) : '_';
  for (Operation &op : *module.getBody())
    if (isDeclared(op))
      guard += "_" + SymbolTable::getSymbolName(&op).getValue().str();
  return guard + "_H";
}

std::string attn::target::headerText(ModuleOp module, StringRef name) {
  std::string text;
  llvm::raw_string_ostream os(text);
  std::string guard = guardOf(module, name);
  os << headerMark << ATTN_VERSION << ". Link with libattn-rt.a, "
     << "-lpthread and -lm. */\n"
     << "#ifndef " << guard << "\n#define " << guard << "\n\n"
     << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
     << abiBlock;
  bool withGPU = static_cast<bool>(findKernels(module));
  for (Operation &op : *module.getBody()) {
    if (!isDeclared(op))
      continue;
    std::vector<PortAttr> ports = PortAttr::of(&op);
    auto statuses = op.getAttrOfType<ArrayAttr>("attn.statuses");
    StringRef function = SymbolTable::getSymbolName(&op).getValue();
    os << "\n";
    printStruct(os, function, ports, withGPU);
    if (withGPU)
      printGPU(os);
    bool hasWeights = module.lookupSymbol(cName(function, CName::LoadWeights));
    printFunctions(os, function, ports, statuses, hasWeights);
  }
  os << "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
  return text;
}
