// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tile dialect: what a block of threads of a GPU does together.
#ifndef ATTN_DIALECT_TILE_IR_TILEOPS_H
#define ATTN_DIALECT_TILE_IR_TILEOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "attn/Dialect/Tile/IR/TileDialect.h.inc"
#include "attn/Dialect/Tile/IR/TileEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "attn/Dialect/Tile/IR/TileTypes.h.inc"

#define GET_OP_CLASSES
#include "attn/Dialect/Tile/IR/TileOps.h.inc"

#endif
