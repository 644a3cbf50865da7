// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Target/Link.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"

using namespace attn;
using llvm::StringRef;

llvm::Expected<std::string> target::findRuntime(const char *argv0,
                                                void *mainAddress) {
  namespace path = llvm::sys::path;
  std::string tool = llvm::sys::fs::getMainExecutable(argv0, mainAddress);
  StringRef prefix = path::parent_path(path::parent_path(tool));
  // GNUInstallDirs: lib64 on some systems, a folder per architecture on others.
  for (StringRef folder : {"lib", "lib64", ATTN_INSTALL_LIBDIR}) {
    llvm::SmallString<128> archive(prefix);
    path::append(archive, folder, "libattn-rt.a");
    if (llvm::sys::fs::exists(archive))
      return archive.str().str();
  }
  return llvm::createStringError("cannot find libattn-rt.a in '" + prefix +
                                 "/lib'; is the installation complete?");
}

/// The line of a compiler's output that says most.
static StringRef firstError(StringRef text) {
  StringRef first;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    if (line.contains("error") || line.contains("undefined"))
      return line.trim();
    if (first.empty())
      first = line.trim();
  }
  return first;
}

llvm::Error target::link(Linked kind, StringRef object, StringRef runtime,
                         StringRef output) {
  llvm::ErrorOr<std::string> cc = llvm::sys::findProgramByName("cc");
  if (!cc)
    return llvm::createStringError(
        "cannot find the C compiler 'cc', which links; install one, or use "
        "--emit=obj");
  llvm::SmallString<128> log;
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("attn-link", "log", log))
    return llvm::createStringError(error, "cannot make a temporary file");
  llvm::FileRemover removeLog(log);
  llvm::sys::RemoveFileOnSignal(log);

  std::vector<StringRef> arguments{
      *cc,    object, runtime,    "-o",
      output, "-lm",  "-pthread", "-Wl,--gc-sections"};
  // Callers without a C compiler look what it defines up (attn-rt/dlpack.h).
  if (kind == Linked::SharedLibrary)
    arguments.insert(arguments.end(),
                     {"-shared", "-Wl,-z,defs", "-Wl,-u,attn_rt_run_dlpack"});
  std::optional<StringRef> redirects[] = {StringRef(), log.str(), log.str()};
  std::string message;
  int status = llvm::sys::ExecuteAndWait(*cc, arguments, std::nullopt,
                                         redirects, 0, 0, &message);
  uint64_t size = 0;
  if (status == 0 && !llvm::sys::fs::file_size(output, size) && size > 0)
    return llvm::Error::success();
  if (status == 0)
    return llvm::createStringError(
        "linking failed: '" + *cc +
        "' exited with status 0, but wrote no output");
  if (auto text = llvm::MemoryBuffer::getFile(log); text && message.empty())
    message = firstError((*text)->getBuffer()).str();
  if (message.empty())
    message = "'" + *cc + "' exited with status " + std::to_string(status) +
              " and said nothing";
  return llvm::createStringError("linking failed: " + message);
}
