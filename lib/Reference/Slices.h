// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and writing a part of a tensor.
#ifndef ATTN_LIB_REFERENCE_SLICES_H
#define ATTN_LIB_REFERENCE_SLICES_H

#include "Interpreter.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace attn::reference {

/// Positions in the whole tensor of a slice's elements, in the slice's order.
/// An error where the slice leaves the tensor.
mlir::FailureOr<llvm::SmallVector<int64_t>>
slicePositions(Frame &frame, mlir::OffsetSizeAndStrideOpInterface op,
               const Tensor &whole);

/// Writes `source` over the slice of `target` that `op` names.
llvm::LogicalResult insertSlice(Frame &frame,
                                mlir::OffsetSizeAndStrideOpInterface op,
                                const Tensor &source, Tensor &target);

} // namespace attn::reference

#endif
