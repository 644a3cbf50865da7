// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of f64, for all arguments, as straight-line arithmetic.
#ifndef ATTN_LIB_CONVERSION_VECTORTOCPU_MATHF64_H
#define ATTN_LIB_CONVERSION_VECTORTOCPU_MATHF64_H

#include "attn/Conversion/VectorToCPU/Arithmetic.h"

namespace attn::cpu::f64 {

mlir::Value exp(const Arithmetic &a, mlir::Value x);
mlir::Value expm1(const Arithmetic &a, mlir::Value x);
mlir::Value log(const Arithmetic &a, mlir::Value x);
mlir::Value log2(const Arithmetic &a, mlir::Value x);
mlir::Value log1p(const Arithmetic &a, mlir::Value x);
mlir::Value tanh(const Arithmetic &a, mlir::Value x);
mlir::Value erf(const Arithmetic &a, mlir::Value x);
mlir::Value sin(const Arithmetic &a, mlir::Value x);
mlir::Value cos(const Arithmetic &a, mlir::Value x);
/// |x|^y, where neither is NaN, y is not 0 and |x| not 1.
mlir::Value power(const Arithmetic &a, mlir::Value x, mlir::Value y);

} // namespace attn::cpu::f64

#endif
