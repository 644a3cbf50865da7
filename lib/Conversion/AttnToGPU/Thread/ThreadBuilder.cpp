// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ThreadBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpucode;

// --- fragments ---

FragmentShape::FragmentShape(tile::FragmentType type)
    : rowBlocks(type.getWarpRows() / 16),
      columnBlocks(type.getWarpColumns() / 8),
      layout(LinearLayout::sums(type.getRows(), type.getColumns(),
                                type.getWarps(), type.getColumnWarps())) {}

Place FragmentShape::distance(int64_t reg) const {
  int64_t perBlock = columnBlocks * 4;
  int64_t rowStep = 4 * static_cast<int64_t>(llvm::PowerOf2Ceil(columnBlocks));
  return layout.at(reg / perBlock * rowStep + reg % perBlock, /*lane=*/0);
}

int64_t gpucode::rowsOfThread(Type type) {
  if (auto rows = dyn_cast<tile::RowsType>(type))
    return rows.getRows() / rows.getWarps() / 8;
  return FragmentShape(cast<tile::FragmentType>(type)).rows();
}

int64_t gpucode::threadsOf(ThreadBuilder &t) {
  Operation *op = t.b.getInsertionBlock()->getParentOp();
  while (!op->hasAttr("known_block_size"))
    op = op->getParentOp();
  return op->getAttrOfType<DenseI32ArrayAttr>("known_block_size")[0];
}

// --- numbers ---

Value ThreadBuilder::i32(int64_t value) {
  return arith::ConstantIntOp::create(b, loc, static_cast<int32_t>(value),
                                      /*width=*/32);
}
Value ThreadBuilder::i64(int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, /*width=*/64);
}
Value ThreadBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}
Value ThreadBuilder::f32(double value) {
  return arith::ConstantOp::create(
      b, loc, b.getF32FloatAttr(static_cast<float>(value)));
}

Value ThreadBuilder::narrow(Value value) {
  constexpr int64_t limit = int64_t(1) << 30;
  value = arith::MinSIOp::create(b, loc, value, index(limit));
  value = arith::MaxSIOp::create(b, loc, value, index(-limit));
  return arith::IndexCastOp::create(b, loc, b.getI32Type(), value);
}

Value ThreadBuilder::wide(Value value) {
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
}

Value ThreadBuilder::bits(Value x, int64_t from, int64_t count) {
  if (from > 0)
    x = arith::ShRUIOp::create(b, loc, x, i32(from));
  return both(x, i32((int64_t(1) << count) - 1));
}

/// Sums of bits times steps: runs of bits whose steps double are one product.
static Value combine(ThreadBuilder &t, Value number, ArrayRef<int64_t> steps,
                     Value sum) {
  for (size_t from = 0; from < steps.size();) {
    size_t end = from + 1;
    while (end < steps.size() && steps[end] == 2 * steps[end - 1])
      ++end;
    if (steps[from] != 0) {
      auto count = static_cast<int64_t>(end - from);
      Value part = t.bits(number, static_cast<int64_t>(from), count);
      if (steps[from] != 1)
        part = t.mul(part, t.i32(steps[from]));
      sum = sum ? t.add(sum, part) : part;
    }
    from = end;
  }
  return sum;
}

template <typename Step>
static Value combineAll(ThreadBuilder &t, const LinearLayout &layout,
                        Step step) {
  Value sum;
  for (auto [input, number] : {std::pair{LinearLayout::Lane, t.thread.lane},
                               std::pair{LinearLayout::Warp, t.thread.warp}})
    sum =
        combine(t, number, llvm::map_to_vector(layout.bits(input), step), sum);
  return sum ? sum : t.i32(0);
}

std::pair<Value, Value> ThreadBuilder::place(const LinearLayout &layout) {
  Value row = combineAll(*this, layout, [](Place p) { return p.row; });
  Value column = combineAll(*this, layout, [](Place p) { return p.column; });
  return {row, column};
}

Value ThreadBuilder::bytesTo(const LinearLayout &layout,
                             tile::BufferType buffer) {
  return combineAll(*this, layout, [&](Place p) {
    return (p.row * buffer.getPitch() + p.column) * buffer.getElementBytes();
  });
}

// --- memory ---

Value ThreadBuilder::behind(Value address, Value bytes) {
  return LLVM::GEPOp::create(b, loc, address.getType(), b.getI8Type(), address,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

Value ThreadBuilder::behind(Value address, int64_t bytes) {
  if (bytes == 0)
    return address;
  return LLVM::GEPOp::create(
      b, loc, address.getType(), b.getI8Type(), address,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
}

Value ThreadBuilder::inBuffer(tile::BufferType buffer, Value bytes) {
  return behind(behind(thread.shared, bytes),
                buffer.getOffset() * buffer.getElementBytes());
}

static Values unpack(ThreadBuilder &t, Value structure, int64_t count) {
  Values values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(LLVM::ExtractValueOp::create(t.b, t.loc, structure, i));
  return values;
}

Values ThreadBuilder::loadMatrices(Value address, bool transposed) {
  constexpr int64_t count = 4;
  MLIRContext *context = b.getContext();
  SmallVector<Type> types(count, b.getI32Type());
  auto type = LLVM::LLVMStructType::getLiteral(context, types);
  Value loaded = NVVM::LdMatrixOp::create(
      b, loc, type, address, uint32_t(count),
      transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(context, 8, 8),
      NVVM::LdStMatrixEltType::B16);
  return unpack(*this, loaded, count);
}

Values ThreadBuilder::multiply(ValueRange a, ValueRange right, ValueRange c,
                               Type element) {
  MLIRContext *context = b.getContext();
  // The op takes f16 as vectors.
  auto operands = [&](ValueRange registers) {
    return llvm::map_to_vector(registers, [&](Value x) -> Value {
      if (!element.isF16())
        return x;
      return LLVM::BitcastOp::create(b, loc, VectorType::get(2, element), x);
    });
  };
  SmallVector<Type> sums(4, b.getF32Type());
  auto type = element.isF32()    ? NVVM::MMATypes::tf32
              : element.isBF16() ? NVVM::MMATypes::bf16
                                 : NVVM::MMATypes::f16;
  int64_t depth = element.isF32() ? 8 : 16;
  Value result = NVVM::MmaOp::create(
      b, loc, LLVM::LLVMStructType::getLiteral(context, sums), operands(a),
      operands(right), c, ArrayRef<int64_t>{16, 8, depth}, std::nullopt,
      std::nullopt, std::array{type, type},
      std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  return unpack(*this, result, 4);
}

std::pair<Value, Value> ThreadBuilder::split(Value f32Bits, bool isFinite) {
  constexpr int64_t dropped = 0x1fff, infinity = 0x7f800000;
  Value bits = f32Bits;
  if (!isFinite) { // what is below the infinities, as unsigned and as signed
    bits =
        arith::MinUIOp::create(b, loc, bits, i32((1ll << 31) + infinity - 1));
    bits = arith::MinSIOp::create(b, loc, bits, i32(infinity - 1));
  }
  Value upper = both(bits, i32(~dropped));
  auto real = [&](Value bits) {
    return LLVM::BitcastOp::create(b, loc, b.getF32Type(), bits);
  };
  Value rest =
      arith::SubFOp::create(b, loc, real(f32Bits), real(upper)); // exact
  return {upper, LLVM::BitcastOp::create(b, loc, b.getI32Type(), rest)};
}

Value ThreadBuilder::pack(Value low, Value high, Type element) {
  auto type = VectorType::get(2, b.getF32Type());
  Value both = LLVM::PoisonOp::create(b, loc, type);
  both = LLVM::InsertElementOp::create(b, loc, both, low, i32(0));
  both = LLVM::InsertElementOp::create(b, loc, both, high, i32(1));
  Value narrow =
      LLVM::FPTruncOp::create(b, loc, VectorType::get(2, element), both);
  return LLVM::BitcastOp::create(b, loc, b.getI32Type(), narrow);
}

Value ThreadBuilder::shuffle(Value x, int64_t mask) {
  return NVVM::ShflOp::create(b, loc, x.getType(), i32(-1), x, i32(mask),
                              i32(31), NVVM::ShflKind::bfly, UnitAttr());
}

// --- bits of floats ---

BitPattern::BitPattern(ThreadBuilder &t, Type element)
    : t(t), width(element.getIntOrFloatBitWidth()),
      mantissa(cast<FloatType>(element).getFPMantissaWidth() - 1),
      infinity((int64_t(1) << (width - 1)) - (int64_t(1) << mantissa)),
      repeat(width == 32 ? 1 : 0x10001) {}

Value BitPattern::atLeast(Value x, int64_t magnitude) {
  int64_t highest = int64_t(1) << (width - 1);
  Value unsignedBits = t.both(x, t.i32(repeat * (highest - 1)));
  Value carried = t.add(unsignedBits, t.i32(repeat * (highest - magnitude)));
  return t.both(carried, t.i32(repeat * highest));
}

Value BitPattern::bits(Value highest, int64_t ofNumber) {
  Value one = arith::ShRUIOp::create(t.b, t.loc, highest, t.i32(width - 1));
  return t.mul(one, t.i32(ofNumber));
}

Value BitPattern::without(Value x, Value mask) {
  return t.both(x, arith::XOrIOp::create(t.b, t.loc, mask, t.i32(-1)));
}
