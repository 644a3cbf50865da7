// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TARGET_SHORTENSUMS_H
#define ATTN_TARGET_SHORTENSUMS_H

namespace llvm {
class Module;
}

namespace attn::target {

/// Divides sums of so many terms that strength reduction takes long for them.
void shortenSums(llvm::Module &module);

} // namespace attn::target

#endif
