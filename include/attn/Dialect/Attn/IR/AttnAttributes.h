// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The attn dialect's attributes and types, for code that knows no attn op.
#ifndef ATTN_DIALECT_ATTN_IR_ATTNATTRIBUTES_H
#define ATTN_DIALECT_ATTN_IR_ATTNATTRIBUTES_H

#include "attn/Dialect/Attn/IR/Mask/MaskFormula.h"
#include "attn/Dialect/Attn/IR/Mask/MaskOperands.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

#include "attn/Dialect/Attn/IR/AttnDialect.h.inc"
#include "attn/Dialect/Attn/IR/AttnEnums.h.inc"
#include "attn/Dialect/Attn/IR/AttnInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "attn/Dialect/Attn/IR/AttnAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "attn/Dialect/Attn/IR/AttnTypes.h.inc"

#endif
