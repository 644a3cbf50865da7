// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "System.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <malloc.h>
#include <new>
#include <pthread.h>
#include <unistd.h>

using namespace attn::tool;

/// Says why the process ends here. Also called from handlers of signals.
[[noreturn]] static void stop(const char *line) {
  llvm::sys::RunInterruptHandlers(); // removes files
  [[maybe_unused]] ssize_t written =
      write(STDERR_FILENO, line, std::strlen(line));
  _exit(UserError);
}

static void onNoMemory() { stop("attn-opt: error: out of memory\n"); }

static void onBadAllocation(void *, const char *, bool) { onNoMemory(); }

static void onTimeLimit(int) {
  stop("attn-opt: error: stopped at the system's limit of processor time\n");
}

/// The user's wish, which is no bug either.
static void onQuit(int number) {
  llvm::sys::RunInterruptHandlers();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void attn::tool::respectLimits() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGXCPU, onTimeLimit);
  std::signal(SIGQUIT, onQuit);
}

/// A file that is opened later must not become the standard output. What is
/// opened instead cannot be used, so that its first use fails.
static void openClosed() {
  for (int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(file, F_GETFD) < 0 && errno == EBADF &&
        open("/dev/null", file == STDOUT_FILENO ? O_RDONLY : O_WRONLY) != file)
      _exit(UserError);
}

ExitStatus attn::tool::finishOutput(ExitStatus status) {
  llvm::raw_fd_ostream &out = llvm::outs();
  out.flush();
  // Of its own failures, the error output can say nothing.
  llvm::errs().clear_error();
  if (!out.has_error())
    return status;
  llvm::errs() << "attn-opt: error: cannot write to the standard output: "
               << out.error().message() << "\n";
  llvm::errs().clear_error();
  out.clear_error();
  return status == Success ? UserError : status;
}

/// Where a library ends the process: --help and --version.
static void atExit() {
  if (ExitStatus status = finishOutput(Success); status != Success)
    _exit(status);
}

void attn::tool::prepareSystem() {
  openClosed();
  respectLimits();
  std::set_new_handler(onNoMemory);
  llvm::install_bad_alloc_error_handler(onBadAllocation);
  // They are destroyed in the reverse order, so after `atExit`.
  llvm::outs();
  llvm::errs();
  std::atexit(atExit);
}

namespace {
struct Call {
  llvm::function_ref<ExitStatus()> work;
  ExitStatus status;
};
} // namespace

static void *runCall(void *data) {
  auto *call = static_cast<Call *>(data);
  call->status = call->work();
  return nullptr;
}

static bool startThread(size_t stack, Call &call, pthread_t &thread) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0)
    return false;
  bool started = pthread_attr_setstacksize(&attributes, stack) == 0 &&
                 pthread_create(&thread, &attributes, runCall, &call) == 0;
  pthread_attr_destroy(&attributes);
  return started;
}

ExitStatus attn::tool::onLargeStack(llvm::function_ref<ExitStatus()> work) {
  // One thread works at a time, so one pool of memory is enough.
  mallopt(M_ARENA_MAX, 1);
  // What one pass gives back the next one takes: the system need not see it.
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 16 << 20);
  Call call{work, OurBug};
  pthread_t thread;
  // Memory is taken where it is touched only, but a limit may count it all.
  for (size_t stack : {size_t{512} << 20, size_t{64} << 20})
    if (startThread(stack, call, thread)) {
      pthread_join(thread, nullptr);
      return call.status;
    }
  return work();
}
