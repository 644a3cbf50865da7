// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Outputs that belong together take their places, or none does: what stood
// there before stands there again.
#include "attn/Target/AtomicOutput.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using attn::target::AtomicOutput;
using llvm::StringRef;
namespace fs = llvm::sys::fs;

static int failures = 0;

static void check(bool condition, StringRef what) {
  if (condition)
    return;
  ++failures;
  llvm::errs() << "failed: " << what << "\n";
}

static std::string contents(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  return file ? (*file)->getBuffer().str() : "none";
}

static size_t countFiles() {
  std::error_code error;
  size_t count = 0;
  for (fs::directory_iterator i(".", error), end; i != end && !error;
       i.increment(error))
    ++count;
  return count;
}

static AtomicOutput make(StringRef path) {
  auto output = AtomicOutput::open(path);
  if (!output) {
    llvm::errs() << llvm::toString(output.takeError()) << "\n";
    exit(1);
  }
  llvm::cantFail(output->write("new"));
  return std::move(*output);
}

/// What `prevent` does hinders the last of three outputs.
static void checkFailure(StringRef last, StringRef message,
                         llvm::function_ref<void()> prevent) {
  llvm::cantFail(AtomicOutput::keep({}));
  {
    AtomicOutput old = make("old"), fresh = make("fresh"), third = make(last);
    prevent();
    std::string said =
        llvm::toString(AtomicOutput::keep({&old, &fresh, &third}));
    check(said == "cannot write '" + last.str() + "': " + message.str(), said);
  }
  check(contents("old") == "old", "the old file is back");
  check(!fs::exists("fresh"), "the new file is gone");
}

int main() {
  llvm::SmallString<128> folder;
  if (fs::createUniqueDirectory("atomic-output", folder) ||
      fs::set_current_path(folder))
    return 1;
  {
    auto output = AtomicOutput::open("old");
    llvm::cantFail(output.takeError());
    llvm::cantFail(output->write("old"));
    check(!fs::exists("old"), "nothing before keep");
    llvm::cantFail(AtomicOutput::keep(&*output));
  }
  check(countFiles() == 1, "one file");
  {
    AtomicOutput dropped = make("dropped");
  }
  check(countFiles() == 1, "an output that is not kept leaves nothing");

  checkFailure("third", "File exists", [] { fs::create_directory("third"); });
  fs::remove("third");
  check(countFiles() == 1, "nothing else is left");
  fs::create_directory("below");
  checkFailure("below/third", "No such file or directory",
               [] { fs::remove_directories("below"); });
  check(countFiles() == 1, "nothing is left of a folder that is gone");

  {
    AtomicOutput old = make("old"), fresh = make("fresh"),
                 device = make("/dev/null");
    check(!device.isReplaced(), "a device is written");
    llvm::cantFail(AtomicOutput::keep({&old, &device, &fresh}));
  }
  check(contents("old") == "new" && contents("fresh") == "new", "both are new");
  check(countFiles() == 2, "and no other");
  fs::set_current_path("..");
  fs::remove_directories(folder);
  llvm::errs() << failures << " failures\n";
  return failures != 0;
}
