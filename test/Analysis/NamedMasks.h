// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks people use.

#ifndef ATTN_TEST_ANALYSIS_NAMEDMASKS_H
#define ATTN_TEST_ANALYSIS_NAMEDMASKS_H

namespace attn::test {

/// Loop form, head and tail of masks people use at 64 x 64; printing; masks
/// that admit nothing; limits.  Reports what is wrong.
bool checkNamedMasks();

} // namespace attn::test

#endif // ATTN_TEST_ANALYSIS_NAMEDMASKS_H
