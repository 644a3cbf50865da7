// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The module is the call layer of the Python package, python/attn/_call.py, as
// it stands there, and a kernel for each function.
#include "attn/Target/PythonModule.h"
#include "attn/Dialect/Attn/IR/AttnAttributes.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace attn;

static const char callLayer[] =
#include "CallLayer.inc"
    ;

/// "q: f32[q0, 8, q2, 64]".
static std::string portText(PortAttr port) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << port.getName().getValue() << ": " << port.getElementType() << "[";
  llvm::interleaveComma(llvm::seq(port.getRank()), os,
                        [&](int64_t dim) { os << port.sizeText(dim); });
  os << "]";
  return text;
}

static std::string signatureText(Operation &op) {
  std::vector<PortAttr> ports = PortAttr::of(&op);
  auto list = [&](raw_ostream &os, bool input) {
    llvm::interleaveComma(
        llvm::make_filter_range(
            ports, [&](PortAttr port) { return port.getInput() == input; }),
        os, [&](PortAttr port) { os << portText(port); });
  };
  std::string text;
  llvm::raw_string_ostream os(text);
  os << SymbolTable::getSymbolName(&op).getValue() << "(";
  list(os, true);
  os << ") -> ";
  list(os, false);
  return text;
}

std::string target::pythonText(ModuleOp module, StringRef library) {
  std::string text = "# Made by attn-opt " ATTN_VERSION
                     ". It needs NumPy, and the library beside it.\n";
  std::string signatures, names;
  for (Operation &op : *module.getBody()) {
    if (!op.hasAttr("attn.statuses"))
      continue;
    signatures += "    " + signatureText(op) + "\n";
    names += "\"" + SymbolTable::getSymbolName(&op).getValue().str() + "\", ";
  }
  text += callLayer;
  // JSON's strings are Python's; names of functions are those of C.
  text +=
      "\n\n__doc__ = \"\"\"Kernels made by attn-opt, and the class that calls "
      "them:\n\n" +
      signatures + "\"\"\"\n\n";
  text +=
      "import builtins\n\n"
      "_library = os.path.join(os.path.dirname(os.path.abspath(__file__)), " +
      llvm::formatv("{0}", llvm::json::Value(library)).str() + ")\n";
  text += "for _name in (" + names + "):\n";
  text += "    # A name that is taken, here or by Python, has an underscore.\n"
          "    _taken = _name in globals() or hasattr(builtins, _name) or "
          "keyword.iskeyword(_name)\n"
          "    globals()[_name + \"_\" * _taken] = Kernel(_library, _name)\n";
  return text;
}
