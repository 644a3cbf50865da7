// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program runs as a process of its own: it reads files, checks them, and
// says what is wrong with them as every program does, under our name.
#include "Lab.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"

using namespace attn;
using namespace attn::tool;
using llvm::Error;
using llvm::StringRef;

/// The exit status of the program that writes a page to `page`.
static llvm::Expected<ExitStatus> runProgram(StringRef program, StringRef page,
                                             const Options &options) {
  std::string lab = "--lab=" + page.str(), message;
  std::vector<StringRef> arguments{"attn-opt", lab};
  arguments.insert(arguments.end(), options.labArguments.begin(),
                   options.labArguments.end());
  int status = llvm::sys::ExecuteAndWait(program, arguments, std::nullopt, {},
                                         0, 0, &message);
  if (status < 0)
    return llvm::createStringError("cannot run the program of --emit=lab: " +
                                   message);
  return static_cast<ExitStatus>(status);
}

Error tool::writePage(const Output &output, mlir::ModuleOp module,
                      ExitStatus &status) {
  // It is opened first: an error must come before the work.
  auto file = target::AtomicOutput::open(output.path());
  if (!file)
    return file.takeError();
  llvm::SmallString<128> program, page;
  llvm::FileRemover removeProgram, removePage;
  if (Error error = output.makeTemporary(module, target::Linked::Executable,
                                         program, removeProgram))
    return error;
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("attn-opt", "html", page))
    return llvm::createStringError(error, "cannot make a temporary file: " +
                                              error.message());
  removePage.setFile(page);
  llvm::sys::RemoveFileOnSignal(page);
  llvm::Expected<ExitStatus> ran = runProgram(program, page, output.options);
  if (!ran)
    return ran.takeError();
  status = *ran;
  if (status != Success)
    return Error::success();
  auto text = llvm::MemoryBuffer::getFile(page);
  if (!text)
    return llvm::createStringError(text.getError(),
                                   "cannot read '" + page +
                                       "': " + text.getError().message());
  if (Error error = file->write((*text)->getBuffer()))
    return error;
  return target::AtomicOutput::keep(&*file);
}
