// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Target/AtomicOutput.h"
#include "llvm/Support/raw_ostream.h"

using namespace attn::target;
using llvm::Error;
using llvm::StringRef;
namespace fs = llvm::sys::fs;

Error AtomicOutput::failure(std::error_code error) const {
  return llvm::createStringError(error, "cannot write '" + destination +
                                            "': " + error.message());
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
  auto temporary = fs::TempFile::create(destination + ".tmp-%%%%%%");
  if (!temporary)
    return output.failure(llvm::errorToErrorCode(temporary.takeError()));
  output.temporary = std::move(*temporary);
  return output;
}

AtomicOutput::AtomicOutput(AtomicOutput &&other)
    : destination(std::move(other.destination)),
      temporary(std::move(other.temporary)) {
  other.temporary.reset();
}

AtomicOutput::~AtomicOutput() {
  if (temporary)
    llvm::consumeError(temporary->discard());
}

StringRef AtomicOutput::path() const {
  return temporary ? StringRef(temporary->TmpName) : StringRef(destination);
}

Error AtomicOutput::write(StringRef data) {
  if (temporary) {
    llvm::raw_fd_ostream stream(temporary->FD, /*shouldClose=*/false);
    stream << data;
    stream.flush();
    std::error_code error = stream.error();
    stream.clear_error();
    return error ? failure(error) : Error::success();
  }
  std::error_code error;
  llvm::raw_fd_ostream stream(destination, error);
  if (!error)
    stream << data;
  stream.flush();
  if (stream.has_error())
    error = stream.error();
  stream.clear_error();
  return error ? failure(error) : Error::success();
}

Error AtomicOutput::keep() {
  if (!temporary)
    return Error::success();
  fs::TempFile file = std::move(*temporary);
  temporary.reset();
  if (Error error = file.keep(destination))
    return failure(llvm::errorToErrorCode(std::move(error)));
  return Error::success();
}
