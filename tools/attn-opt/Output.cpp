// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Output.h"
#include "attn/Target/AtomicOutput.h"
#include "attn/Target/Header.h"
#include "attn/Target/Link.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"

using namespace attn;
using namespace attn::tool;
using llvm::Error;
using llvm::StringRef;
namespace path = llvm::sys::path;

Error attn::tool::writeFile(StringRef path, StringRef text) {
  llvm::Expected<target::AtomicOutput> file = target::AtomicOutput::open(path);
  if (!file)
    return file.takeError();
  if (Error error = file->write(text))
    return error;
  return file->keep();
}

bool Output::isText() const {
  return !options.emit ||
         (options.emit != Emit::Executable && options.emit != Emit::Object &&
          options.emit != Emit::Library);
}

/// Name of the input without folder and ending.
std::string Output::stem() const {
  return inputName == "<stdin>" ? "a" : path::stem(inputName).str();
}

std::string Output::path() const {
  if (!options.output.empty())
    return options.output;
  if (isText())
    return "-";
  switch (*options.emit) {
  case Emit::Object:
    return stem() + ".o";
  case Emit::Library:
    return "lib" + stem() + ".so";
  default:
    return stem();
  }
}

/// The header of libmha.so, mha.o and mha is mha.h.
static std::string headerPath(StringRef output, Emit emit) {
  StringRef name = path::filename(output);
  if (emit != Emit::Executable)
    name = path::stem(name);
  if (emit == Emit::Library)
    name.consume_front("lib");
  llvm::SmallString<128> result(path::parent_path(output));
  path::append(result, name + ".h");
  return result.str().str();
}

llvm::Expected<std::string> Output::text(mlir::ModuleOp module) const {
  std::string result;
  if (!options.emit || options.emit == Emit::MLIR) {
    llvm::raw_string_ostream stream(result);
    module.print(stream);
    return result + "\n";
  }
  if (options.emit == Emit::Header)
    return target::headerText(
        module, options.output.empty() ? stem() : path::stem(options.output));
  llvm::LLVMContext context;
  auto translated = target::translate(module, processor, context);
  if (!translated)
    return llvm::createStringError("");
  llvm::SmallString<0> code;
  if (Error error =
          target::generate(*translated, processor,
                           options.emit == Emit::LLVM ? target::Code::LLVM
                                                      : target::Code::Assembly,
                           code))
    return error;
  return code.str().str();
}

Error Output::link(StringRef object, StringRef path) const {
  if (!processor.isHost)
    return llvm::createStringError(
        "--target=" + options.target +
        ": cannot link for another machine; use --emit=obj");
  static int anchor;
  llvm::Expected<std::string> runtime = target::findRuntime(argv0, &anchor);
  if (!runtime)
    return runtime.takeError();
  llvm::SmallString<128> file;
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("attn-opt", "o", file))
    return llvm::createStringError(error, "cannot make a temporary file: " +
                                              error.message());
  llvm::FileRemover remove(file);
  if (Error error = writeFile(file, object))
    return error;
  return target::link(options.emit == Emit::Library
                          ? target::Linked::SharedLibrary
                          : target::Linked::Executable,
                      file, *runtime, path);
}

Error Output::writeBinary(mlir::ModuleOp module) const {
  std::string path = this->path(), header = headerPath(path, *options.emit);
  // Both outputs are opened first: an error must come before the work.
  auto output = target::AtomicOutput::open(path);
  if (!output)
    return output.takeError();
  auto headerOutput = target::AtomicOutput::open(header);
  if (!headerOutput)
    return headerOutput.takeError();
  std::string headerText =
      target::headerText(module, llvm::sys::path::stem(header));

  llvm::LLVMContext context;
  auto translated = target::translate(module, processor, context);
  if (!translated)
    return llvm::createStringError("");
  llvm::SmallString<0> object;
  if (Error error = target::generate(*translated, processor,
                                     target::Code::Object, object))
    return error;
  if (Error error = options.emit == Emit::Object ? output->write(object)
                                                 : link(object, output->path()))
    return error;
  if (Error error = headerOutput->write(headerText))
    return error;
  if (Error error = output->keep())
    return error;
  return headerOutput->keep();
}

Error Output::write(mlir::ModuleOp module) const {
  if (!isText())
    return writeBinary(module);
  llvm::Expected<std::string> result = text(module);
  if (!result)
    return result.takeError();
  return writeFile(path(), *result);
}
