// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "System.h"
#include "llvm/ADT/ArrayRef.h"
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

/// With the first of the stacks that there is room for: memory is taken where
/// it is touched only, but a limit may count it all.
static bool startThread(llvm::ArrayRef<size_t> stacks,
                        llvm::function_ref<void()> &work, pthread_t &thread) {
  auto call = [](void *data) -> void * {
    (*static_cast<llvm::function_ref<void()> *>(data))();
    return nullptr;
  };
  bool started = false;
  for (size_t stack : stacks) {
    pthread_attr_t attributes;
    if (started || pthread_attr_init(&attributes) != 0)
      break;
    started = pthread_attr_setstacksize(&attributes, stack) == 0 &&
              pthread_create(&thread, &attributes, call, &work) == 0;
    pthread_attr_destroy(&attributes);
  }
  return started;
}

void attn::tool::together(llvm::function_ref<void()> here,
                          llvm::function_ref<void()> there) {
  pthread_t thread;
  bool started = startThread({size_t{64} << 20}, there, thread);
  here();
  if (started)
    pthread_join(thread, nullptr);
  else
    there();
}

ExitStatus attn::tool::onLargeStack(llvm::function_ref<ExitStatus()> work) {
  // A pool of memory for this thread, the compiler's, and one beside it.
  mallopt(M_ARENA_MAX, 3);
  // What one pass gives back the next one takes: the system need not see it.
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 64 << 20);
  ExitStatus status = OurBug;
  auto run = [&] { status = work(); };
  llvm::function_ref<void()> call = run;
  pthread_t thread;
  if (startThread({size_t{512} << 20, size_t{64} << 20}, call, thread))
    pthread_join(thread, nullptr);
  else
    call();
  return status;
}
