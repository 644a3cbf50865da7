// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A handler of signals may hardly call anything, so the file is prepared
// beforehand, and written with system calls.
#include "Bug.h"
#include "Options.h"
#include "System.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

static std::string reproducer;
/// A template for mkstemps.
static llvm::SmallString<128> file;

static volatile sig_atomic_t reading = 0, told = 0;

void attn::tool::isReading(bool isReading) { reading = isReading; }
void attn::tool::errorWasTold() { told = 1; }

static void print(const char *text) {
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text, strlen(text));
}

void attn::tool::reportBug() {
  int descriptor = mkstemps(file.data(), static_cast<int>(strlen(".mlir")));
  print("attn-opt: this is a bug in attn-opt, not in your input");
  if (descriptor >= 0) {
    [[maybe_unused]] ssize_t written =
        write(descriptor, reproducer.data(), reproducer.size());
    close(descriptor);
    print("; please report it with the file ");
    print(file.data());
  }
  print("\n");
}

static void onSignal(void *) {
  if (reading && told)
    _exit(attn::tool::UserError);
  attn::tool::reportBug();
  _exit(attn::tool::OurBug);
}

/// A parser of MLIR's ends the process where a size is beyond its containers.
static void onFatalError(void *, const char *reason, bool) {
  if (reading) {
    print("attn-opt: error: the input cannot be read: ");
    print(reason);
    print("\n");
    _exit(attn::tool::UserError);
  }
  print("attn-opt: ");
  print(reason);
  print("\n");
  onSignal(nullptr);
}

void attn::tool::watchForBugs(int argc, char **argv, llvm::StringRef input) {
  reproducer = "// attn-opt";
  for (int i = 1; i < argc; ++i)
    reproducer += std::string(" ") + argv[i];
  // All of it must stay in the comment.
  for (char &c : reproducer)
    c = c == '\n' ? ' ' : c;
  reproducer += "\n" + input.str();
  llvm::sys::path::system_temp_directory(/*erasedOnReboot=*/true, file);
  llvm::sys::path::append(file, "attn-opt-bug-XXXXXX.mlir");
  file.c_str();
  llvm::sys::AddSignalHandler(onSignal, nullptr);
  // LLVM takes all signals that end a process for a bug of its own.
  respectLimits();
  llvm::install_fatal_error_handler(onFatalError);
}
