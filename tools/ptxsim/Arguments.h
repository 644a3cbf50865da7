// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's arguments from the command line, and its results back to files:
//   i32:5  f32:0.5  u64:0x10      a number
//   q.npy                         a pointer to an array that is only read
//   raw=table.bin                 the same, of a file's bytes
//   inout=x.npy:y.npy             one that may be written; the result's file
//   out=o.npy:f16:2x8             one that is written whole
//   zeros=n.npy:i32:4             one that begins as zeros
// A result whose file is `-` is printed, a line per row.
#ifndef ATTN_TOOLS_PTXSIM_ARGUMENTS_H
#define ATTN_TOOLS_PTXSIM_ARGUMENTS_H

#include "Machine.h"
#include "attn-rt/npy.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace attn::ptx {

class Arguments {
public:
  /// Fills the device's parameters and memory.
  llvm::Error read(Device &device, llvm::ArrayRef<std::string> texts);

  /// Writes or prints all results, or none of them.
  llvm::Error write(Device &device, llvm::raw_ostream &stream);

private:
  struct Result {
    std::string path;
    attn_rt_array array;
    uint64_t address;
    bool whole; // all of it must have been written
  };
  llvm::Error readOne(Device &device, llvm::StringRef text,
                      const Parameter &parameter);
  llvm::Expected<uint64_t> readNumber(llvm::StringRef text, unsigned &bytes);
  llvm::Expected<uint64_t> readPointer(Device &device, llvm::StringRef text);
  llvm::Expected<uint64_t> readArray(Device &device, llvm::StringRef path,
                                     llvm::StringRef result);
  llvm::Expected<uint64_t> readRaw(Device &device, llvm::StringRef path);
  llvm::Expected<uint64_t> makeArray(Device &device, llvm::StringRef text,
                                     bool zeros);

  std::vector<Result> results;
  uint64_t next = globalWindow + windowBytes; // behind the module's variables
};

} // namespace attn::ptx

#endif
