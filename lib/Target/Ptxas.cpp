// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Target/Ptxas.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"

using namespace attn;
using llvm::StringRef;

/// The number in front of `unit`, as in "Used 31 registers, used 0 barriers".
static unsigned numberOf(StringRef line, StringRef unit) {
  StringRef before = line.take_front(line.find(unit)).rtrim();
  unsigned number = 0;
  before.take_back(before.size() - before.find_last_not_of("0123456789") - 1)
      .getAsInteger(10, number);
  return number;
}

target::PtxasLog target::readPtxasLog(StringRef text) {
  PtxasLog log;
  auto kernel = [&](StringRef name) -> KernelUse & {
    for (KernelUse &use : log.kernels)
      if (use.name == name)
        return use;
    return log.kernels.emplace_back(KernelUse{name.str(), 0, 0});
  };
  StringRef current;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    StringRef properties = line.split("Function properties for ").second.trim();
    StringRef entry = line.split("Compiling entry function '").second;
    if (!entry.empty())
      current = entry.split('\'').first;
    else if (!properties.empty())
      current = properties;
    else if (line.contains("are spilled to local memory"))
      continue; // what -v says of each kernel as well
    else if (line.contains("bytes spill stores"))
      kernel(current).spillBytes =
          std::max(numberOf(line, "bytes spill stores"),
                   numberOf(line, "bytes spill loads"));
    else if (line.contains("Used ") && line.contains(" registers"))
      kernel(current).registers = numberOf(line, "registers");
    else if (line.contains("warning") || line.contains("(C75"))
      log.warnings.push_back(line.trim().str());
  }
  return log;
}

llvm::Expected<std::string> target::findPtxas(StringRef given) {
  if (!given.empty()) {
    // A path is found whether or not there is something.
    llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(given);
    if (found && llvm::sys::fs::can_execute(*found))
      return *found;
    return llvm::createStringError("--ptxas: cannot find '" + given + "'");
  }
  if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  std::string home =
      llvm::sys::Process::GetEnv("CUDA_HOME").value_or("/usr/local/cuda");
  if (llvm::ErrorOr<std::string> found =
          llvm::sys::findProgramByName("ptxas", {home + "/bin"}))
    return *found;
  return llvm::createStringError(
      "cannot find ptxas in PATH and in '" + home +
      "/bin'; name it with --ptxas, or use --emit=ptx");
}

/// An empty file that goes with `remove`.
static llvm::Error makeFile(StringRef ending, llvm::SmallString<128> &file,
                            llvm::FileRemover &remove) {
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("attn-ptxas", ending, file))
    return llvm::createStringError(error, "cannot make a temporary file: " +
                                              error.message());
  remove.setFile(file);
  llvm::sys::RemoveFileOnSignal(file);
  return llvm::Error::success();
}

static std::string contentsOf(StringRef file) {
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

/// The line that says what is wrong.
static std::string firstProblem(StringRef text) {
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    if (line.contains("error") || line.contains("fatal"))
      return line.trim().str();
    text = rest;
  }
  return "";
}

/// Kernels on as many threads as there are cores; the code is the same. CUDA
/// 12.5 and later know it.
static constexpr StringRef inParallel = "--split-compile=0";

llvm::Expected<std::string> target::assemble(StringRef ptxas, StringRef chip,
                                             StringRef ptx, PtxasLog &log) {
  llvm::SmallString<128> input, output, said;
  llvm::FileRemover removeInput, removeOutput, removeSaid;
  for (auto [ending, file, remove] :
       {std::tuple("ptx", &input, &removeInput),
        std::tuple("cubin", &output, &removeOutput),
        std::tuple("log", &said, &removeSaid)})
    if (llvm::Error error = makeFile(ending, *file, *remove))
      return error;
  std::error_code error;
  llvm::raw_fd_ostream stream(input, error);
  stream << ptx;
  stream.close();
  if (error || stream.has_error())
    return llvm::createStringError("cannot write '" + input + "'");
  std::string arch = ("-arch=" + chip).str(), message;
  std::optional<StringRef> redirects[] = {StringRef(), said.str(), said.str()};
  llvm::SmallVector<StringRef> command{ptxas, arch, "-v",   "--warn-on-spills",
                                       input, "-o", output, inParallel};
  auto run = [&] {
    return llvm::sys::ExecuteAndWait(ptxas, command, std::nullopt, redirects, 0,
                                     0, &message);
  };
  int status = run();
  std::string text = contentsOf(said);
  if (status != 0 && StringRef(text).contains("split-compile")) {
    command.pop_back(); // of an old version
    status = run();
    text = contentsOf(said);
  }
  std::string cubin = contentsOf(output);
  log = readPtxasLog(text);
  if (status == 0 && !cubin.empty())
    return cubin;
  if (std::string problem = firstProblem(text); !problem.empty())
    message = problem;
  if (message.empty())
    message = "'" + ptxas.str() + "' exited with status " +
              std::to_string(status) + " and wrote no cubin";
  return llvm::createStringError("assembling failed: " + message);
}
