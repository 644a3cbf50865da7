// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Target/Header.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::raw_ostream;

/// The part of attn-rt/attn.h that callers of a kernel need.
static const char abiBlock[] =
#include "AbiBlock.inc"
    ;

static StringRef cType(Type element) {
  if (element.isF32())
    return "float";
  if (element.isF64())
    return "double";
  if (element.isF16())
    return "16-bit floats (IEEE 754 binary16)";
  if (element.isBF16())
    return "16-bit floats (bfloat16)";
  if (element.isInteger(1))
    return "bytes, each 0 or 1";
  return element.isInteger(32) ? "int32_t" : "int64_t";
}

/// "(q0, 8, q2, 64)", and an empty text for a scalar.
static std::string shapeText(DictionaryAttr port) {
  auto symbols = cast<ArrayAttr>(port.get("symbols"));
  auto sizes = cast<DenseI64ArrayAttr>(port.get("sizes")).asArrayRef();
  SmallVector<std::string> dims;
  for (auto [symbol, size] : llvm::zip(symbols, sizes))
    dims.push_back(size >= 0 ? std::to_string(size)
                             : cast<StringAttr>(symbol).str());
  return "(" + llvm::join(dims, ", ") + ")";
}

/// The arguments whose memory a result may be; null where there are none.
static ArrayAttr overlapsOf(DictionaryAttr port) {
  return dyn_cast_or_null<ArrayAttr>(port.get("overlaps"));
}

static void printPort(raw_ostream &os, DictionaryAttr port) {
  StringRef name = cast<StringAttr>(port.get("name")).getValue();
  auto type =
      cast<RankedTensorType>(cast<TypeAttr>(port.get("type")).getValue());
  bool input = cast<BoolAttr>(port.get("input")).getValue();
  os << "  /* " << (input ? "Argument" : "Result") << ": "
     << cType(type.getElementType());
  if (type.getRank() == 0)
    os << ", one value (rank 0)";
  else
    os << ", shape " << shapeText(port) << ", any strides";
  if (ArrayAttr names = overlapsOf(port)) {
    os << ";\n   * may be the memory of ";
    llvm::interleave(names.getAsValueRange<StringAttr>(), os, " or ");
  }
  os << " */\n  attn_tensor " << name << ";\n";
}

static void printStruct(raw_ostream &os, StringRef name, ArrayAttr ports) {
  os << "typedef struct {\n"
        "  /* sizeof("
     << name << "_args): which version of this struct the caller has */\n"
     << "  size_t size;\n";
  for (auto port : ports.getAsRange<DictionaryAttr>())
    printPort(os, port);
  os << "  /* Scratch memory of " << name
     << "_workspace_size(args) bytes at any address.\n"
        "   * Null, 0: allocated and freed inside. */\n"
        "  void *workspace;\n"
        "  size_t workspace_size;\n"
        "  /* How to run a loop on several threads. Null: the built-in pool. "
        "*/\n"
        "  attn_parallel_for parallel_for;\n"
        "  void *parallel_context;\n"
        "  /* Number of threads. 0: all processors this process may use. */\n"
        "  int32_t threads;\n"
        "} "
     << name << "_args;\n\n";
}

static void printFunctions(raw_ostream &os, StringRef name, ArrayAttr ports,
                           ArrayAttr statuses) {
  os << "/* Computes the results. Returns 0, or one of these, and then no "
        "result has been\n * written:\n";
  for (auto [i, text] : llvm::enumerate(statuses.getAsValueRange<StringAttr>()))
    if (i > 0)
      os << " *   " << (i < 10 ? " -" : "-") << i << "  " << text << "\n";
  bool inPlace = llvm::any_of(ports.getAsRange<DictionaryAttr>(), overlapsOf);
  os << " * Results must overlap neither arguments"
     << (inPlace ? ", but for those that they name,\n * nor" : " nor")
     << " each other. It may be called from"
     << (inPlace ? " several threads at once. */\n"
                 : "\n * several threads at once. */\n")
     << "int32_t " << name << "(const " << name << "_args *args);\n\n"
     << "/* Bytes of scratch memory for arguments of these shapes and this "
        "number of\n * threads; 0 if the shapes are wrong. Data may be null. "
        "*/\n"
     << "size_t " << name << "_workspace_size(const " << name
     << "_args *args);\n\n"
     << "/* What a status means: which argument, and which rule it breaks. "
        "*/\n"
     << "const char *" << name << "_strerror(int32_t status);\n\n"
     << "/* How the kernel was made, as JSON. */\n"
     << "const char *" << name << "_info(void);\n\n"
     << "/* Floating-point operations that arguments of these shapes need. "
        "*/\n"
     << "double " << name << "_flops(const " << name << "_args *args);\n";
}

std::string attn::target::headerText(ModuleOp module, StringRef name) {
  std::string text;
  llvm::raw_string_ostream os(text);
  std::string guard = "ATTN_KERNELS_";
  for (char c : name)
    guard += llvm::isAlnum(c) ? llvm::toUpper(c) : '_';
  guard += "_H";
  os << "/* Made by attn-opt " << ATTN_VERSION << ". Link with libattn-rt.a, "
     << "-lpthread and -lm. */\n"
     << "#ifndef " << guard << "\n#define " << guard << "\n\n"
     << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
     << abiBlock;
  for (Operation &op : *module.getBody()) {
    auto ports = op.getAttrOfType<ArrayAttr>("attn.ports");
    auto statuses = op.getAttrOfType<ArrayAttr>("attn.statuses");
    if (!ports || !statuses)
      continue;
    StringRef function = SymbolTable::getSymbolName(&op).getValue();
    os << "\n";
    printStruct(os, function, ports);
    printFunctions(os, function, ports, statuses);
  }
  os << "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
  return text;
}
