// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Target/AtomicOutput.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

using namespace attn::target;
using llvm::Error;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// The path by which a file that is not there yet can be compared.
static llvm::SmallString<128> canonical(StringRef file) {
  llvm::SmallString<128> folder;
  StringRef parent = path::parent_path(file);
  if (fs::real_path(parent.empty() ? "." : parent, folder))
    folder = parent;
  path::append(folder, path::filename(file));
  return folder;
}

bool attn::target::isSameFile(StringRef a, StringRef b) {
  bool same = false;
  if (!fs::equivalent(a, b, same))
    return same && fs::is_regular_file(a);
  return !fs::exists(a) && !fs::exists(b) && canonical(a) == canonical(b);
}

/// A new file beside `target`, under a name that is not taken; its end says for
/// what.
static std::error_code createBeside(StringRef target, StringRef end,
                                    std::string &result) {
  static unsigned count = 0;
  std::error_code error;
  for (unsigned attempt = 0; attempt < 1000; ++attempt) {
    llvm::SmallString<128> name(path::parent_path(target));
    path::append(name, "attn-opt-" +
                           llvm::Twine(llvm::sys::Process::getProcessId()) +
                           "-" + llvm::Twine(count++) + end);
    int descriptor;
    error = fs::openFileForWrite(name, descriptor, fs::CD_CreateNew);
    if (error == std::errc::file_exists)
      continue;
    if (!error) {
      llvm::sys::RemoveFileOnSignal(name);
      llvm::sys::Process::SafelyCloseFileDescriptor(descriptor);
      result = name.str().str();
    }
    break;
  }
  return error;
}

/// The file has its last name or is gone.
static void forget(std::string &file) {
  llvm::sys::DontRemoveFileOnSignal(file);
  file.clear();
}

static void discard(std::string &file) {
  if (file.empty())
    return;
  fs::remove(file);
  forget(file);
}

Error AtomicOutput::failure(std::error_code error) const {
  std::string what =
      destination == "-" ? "to the standard output" : "'" + destination + "'";
  return llvm::createStringError(error, "cannot write " + what + ": " +
                                            error.message());
}

llvm::Expected<AtomicOutput> AtomicOutput::open(StringRef destination) {
  AtomicOutput output(destination);
  fs::file_status status;
  bool exists = !fs::status(destination, status) && fs::exists(status);
  if (exists && fs::is_directory(status))
    return output.failure(std::make_error_code(std::errc::is_a_directory));
  if (destination == "-" || (exists && !fs::is_regular_file(status)))
    return output;
  // A file that may not be written must stay as it is.
  if (exists && fs::access(destination, fs::AccessMode::Write))
    return output.failure(std::make_error_code(std::errc::permission_denied));
  // A link stays, and the file behind it is replaced.
  llvm::SmallString<128> target;
  if (!exists || fs::real_path(destination, target))
    target = destination;
  output.target = target.str().str();
  if (std::error_code error =
          createBeside(output.target, ".tmp", output.temporary))
    return output.failure(error);
  return output;
}

AtomicOutput::AtomicOutput(AtomicOutput &&other)
    : destination(std::move(other.destination)),
      target(std::move(other.target)), temporary(std::move(other.temporary)) {
  other.temporary.clear();
}

AtomicOutput::~AtomicOutput() { discard(temporary); }

Error AtomicOutput::write(llvm::ArrayRef<StringRef> parts) {
  StringRef file = isReplaced() ? temporary : destination;
  std::error_code error;
  llvm::raw_fd_ostream stream(file, error);
  if (error)
    return failure(error);
  for (StringRef part : parts)
    stream << part;
  if (file == "-")
    stream.flush();
  else
    stream.close();
  error = stream.error();
  stream.clear_error();
  return error ? failure(error) : Error::success();
}

/// Keeps what stands at the target under a second name. Where the file system
/// has no such names, it is moved there.
std::error_code AtomicOutput::backUp() {
  fs::file_status status;
  if (fs::status(target, status) || !fs::exists(status))
    return {};
  if (!fs::is_regular_file(status))
    return std::make_error_code(std::errc::file_exists);
  if (std::error_code error = createBeside(target, ".old", backup))
    return error;
  // From here on the file is someone's only copy.
  llvm::sys::DontRemoveFileOnSignal(backup);
  fs::remove(backup);
  if (!fs::create_hard_link(target, backup))
    return {};
  std::error_code error = fs::rename(target, backup);
  if (error)
    backup.clear();
  return error;
}

void AtomicOutput::restore() {
  if (!backup.empty()) {
    fs::rename(backup, target);
    // Where both are one file still, a rename does nothing.
    fs::remove(backup);
    backup.clear();
  } else if (temporary.empty()) {
    fs::remove(target);
  }
}

/// A file that is replaced stays as private as it was.
static void keepMode(StringRef temporary, StringRef target) {
  auto old = fs::getPermissions(target), made = fs::getPermissions(temporary);
  if (!old || !made)
    return;
  unsigned mode = *old;
  if (*made & fs::owner_exe) // whoever may read a program may run it
    mode |= (mode & fs::all_read) >> 2;
  fs::setPermissions(temporary, static_cast<fs::perms>(mode));
}

Error AtomicOutput::keep(llvm::ArrayRef<AtomicOutput *> outputs) {
  llvm::SmallVector<AtomicOutput *> files, seen;
  for (AtomicOutput *output : outputs)
    if (output->isReplaced())
      files.push_back(output);
  auto undo = [&](AtomicOutput &failed, std::error_code error) {
    for (AtomicOutput *file : seen)
      file->restore();
    return failed.failure(error);
  };
  // A single rename happens or does not; several need a way back.
  for (AtomicOutput *file : files) {
    if (std::error_code error =
            files.size() > 1 ? file->backUp() : std::error_code())
      return undo(*file, error);
    seen.push_back(file);
  }
  for (AtomicOutput *file : files) {
    keepMode(file->temporary,
             file->backup.empty() ? file->target : file->backup);
    if (std::error_code error = fs::rename(file->temporary, file->target))
      return undo(*file, error);
    forget(file->temporary);
  }
  for (AtomicOutput *file : files)
    discard(file->backup);
  return Error::success();
}
