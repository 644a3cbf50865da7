// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_OPT_COMPILE_H
#define ATTN_OPT_COMPILE_H

#include "Options.h"

namespace attn::tool {
/// Compiles as the options say; every problem has been reported.
ExitStatus compile(const Options &options, int argc, char **argv);
} // namespace attn::tool

#endif
