// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_TILE_DOCUMENTROWS_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_TILE_DOCUMENTROWS_H

#include "AttentionItem.h"

namespace attn {

/// The document number of each query row, if rows see their own document only:
/// the mask is the term `document` or an `and` of it. Null otherwise.
mlir::Value documentNumbers(mlir::OpBuilder &builder, mlir::Location loc,
                            const ItemPlace &place);

/// Computes results for query rows [begin, end) into `destinations`.
using ComputeRows = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::Value begin, mlir::Value end,
    llvm::ArrayRef<mlir::Value> destinations)>;

/// Half-open.
struct RowRange {
  mlir::Value begin, end;
};

/// Emits a loop over the runs of rows with one number, which carries `values`.
llvm::SmallVector<mlir::Value> emitRuns(mlir::OpBuilder &builder,
                                        mlir::Location loc, mlir::Value numbers,
                                        RowRange rows,
                                        llvm::ArrayRef<mlir::Value> values,
                                        ComputeRows compute);

/// The same, of which each run gets its rows of `destinations`. Their rows are
/// those of the item, `packed` for each query row.
llvm::SmallVector<mlir::Value>
emitPerDocument(mlir::OpBuilder &builder, mlir::Location loc,
                mlir::Value numbers, RowRange item,
                llvm::ArrayRef<mlir::Value> destinations, ComputeRows compute,
                int64_t packed = 1);

} // namespace attn

#endif
