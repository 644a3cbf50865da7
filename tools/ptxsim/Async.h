// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async: copies of one thread that are under way, in groups.
#ifndef ATTN_TOOLS_PTXSIM_ASYNC_H
#define ATTN_TOOLS_PTXSIM_ASYNC_H

#include <cstdint>
#include <deque>
#include <vector>

namespace attn::ptx {

/// When a copy happens between its issue and the wait for it.
enum class Order { Late, Eager, Random };

struct AsyncCopy {
  unsigned line;
  uint32_t destination;
  uint64_t source;
  unsigned bytes, sourceBytes; // the others become zero
  bool done = false;           // its bytes are there, but nobody may look
};

struct AsyncCopies {
  std::vector<AsyncCopy> open; // not in a group yet
  std::deque<std::vector<AsyncCopy>> groups;

  bool empty() const;
  unsigned firstLine() const;
};

} // namespace attn::ptx

#endif
