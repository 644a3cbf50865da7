// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contents of a model's constants as numbers, of the types that quantized
// models store them in.
#ifndef ATTN_LIB_IMPORT_ONNX_MESSAGES_STOREDNUMBERS_H
#define ATTN_LIB_IMPORT_ONNX_MESSAGES_STOREDNUMBERS_H

#include "Model.h"

namespace attn::onnx {

/// An integer type of 4 to 16 bits, by its least and largest number.
struct IntegerRange {
  int32_t least, largest;
};
/// None where ONNX's `type` is no such type.
std::optional<IntegerRange> rangeOf(int32_t type);

struct StoredNumbers {
  std::vector<int64_t> dims;
  std::vector<float> values; ///< row-major

  /// Whether each is `number`.
  bool areAll(float number) const;
};

/// What `tensor` holds, of integers or floats of up to 32 bits. None: `fail`
/// was told why not.
std::optional<StoredNumbers>
readNumbers(TensorReader &reader, const ::onnx::TensorProto &tensor,
            llvm::function_ref<void(const llvm::Twine &)> fail);

/// Writes `numbers` to a tensor of FLOAT, FLOAT16 or BFLOAT16.
void writeNumbers(const StoredNumbers &numbers, int32_t type,
                  ::onnx::TensorProto &tensor);

/// Where the numbers along one dimension are scaled: once for all, each, or in
/// blocks.
struct Scaling {
  const StoredNumbers *scale; ///< null: 1
  const StoredNumbers *zero;  ///< null: 0
  int64_t axis;
  int64_t block = 0; ///< numbers that share a scale; 0: not in blocks
};

/// (x - zero) * scale, in place. False: the sizes do not fit.
bool dequantize(StoredNumbers &x, const Scaling &scaling);

/// The numbers of `bits` bits each, the low ones first, that the bytes of `x`
/// hold along its last dimension, which becomes `size`. False: it has other
/// numbers of bytes.
bool unpack(StoredNumbers &x, int64_t bits, int64_t size);

/// [M, N] as [N, M].
void transpose(StoredNumbers &matrix);

} // namespace attn::onnx

#endif
