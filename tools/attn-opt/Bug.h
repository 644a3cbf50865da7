// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What happens when the compiler itself is wrong.
#ifndef ATTN_OPT_BUG_H
#define ATTN_OPT_BUG_H

#include "llvm/ADT/StringRef.h"

namespace attn::tool {

/// From here on a crash is reported as our bug, with a file that holds `input`
/// and the command line. All must outlive the process' work.
void watchForBugs(int argc, char **argv, llvm::StringRef input);

/// Whether the text is being read, and whether an error was told meanwhile. A
/// crash then is the text's: some of MLIR's parsers stumble over what they have
/// refused.
void isReading(bool reading);
void errorWasTold();

/// Writes the same file and message for a bug that was noticed.
void reportBug();

} // namespace attn::tool

#endif
