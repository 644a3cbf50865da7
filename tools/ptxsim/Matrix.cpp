// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ldmatrix and mma.sync. Fragments lie over the lanes as the manual's figures
// show: lane 4 g + t holds row g of A and C and column g of B.
#include "Decoder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace llvm;

namespace attn::ptx {

namespace {
/// An element of a fragment: a register of a lane, and its half if it has two.
struct Place {
  unsigned lane, element;
};

struct Matrix {
  unsigned rows, columns;
  std::vector<double> values;
  std::vector<bool> known;

  Matrix(unsigned rows, unsigned columns)
      : rows(rows), columns(columns), values(rows * columns),
        known(rows * columns) {}
};

struct Product {
  unsigned k;
  Type a, b, c, d;
  SmallVector<int, 4> to;
  SmallVector<Source, 4> fromA, fromB, fromC;
};
} // namespace

/// A, m16 x k: pairs of columns for 16 bits, single ones for 32; first rows 0
/// to 7, then 8 to 15, then the next columns.
static Place placeInA(unsigned row, unsigned column, Type type) {
  unsigned pair = type.bits == 16 ? 2 : 1, width = 4 * pair;
  unsigned lane = row % 8 * 4 + column % width / pair;
  return {lane, (column / width * 2 + row / 8) * pair + column % pair};
}

/// B, k x n8.
static Place placeInB(unsigned row, unsigned column, Type type) {
  unsigned pair = type.bits == 16 ? 2 : 1, width = 4 * pair;
  unsigned lane = column * 4 + row % width / pair;
  return {lane, row / width * pair + row % pair};
}

/// C and D, m16 x n8.
static Place placeInC(unsigned row, unsigned column, Type) {
  return {row % 8 * 4 + column / 2, row / 8 * 2 + column % 2};
}

static Matrix readMatrix(Warp &warp, ArrayRef<Source> registers, Type type,
                         Matrix matrix,
                         Place (*place)(unsigned, unsigned, Type)) {
  unsigned perRegister = 32 / type.bits, bytes = type.bytes();
  for (unsigned row = 0; row < matrix.rows; ++row)
    for (unsigned column = 0; column < matrix.columns; ++column) {
      Place at = place(row, column, type);
      Value value = warp.read(registers[at.element / perRegister], at.lane);
      unsigned half = at.element % perRegister;
      uint64_t bits = value.bits >> (half * type.bits) &
                      maskTrailingOnes<uint64_t>(type.bits);
      if (type.kind == Type::TFloat)
        bits &= ~uint64_t(0x1fff); // hardware does not look at them
      unsigned index = row * matrix.columns + column;
      matrix.values[index] = realOf(type, bits);
      unsigned all = (1u << bytes) - 1;
      matrix.known[index] = (value.known >> (half * bytes) & all) == all;
    }
  return matrix;
}

static void writeMatrix(Warp &warp, const Product &p, const Matrix &d) {
  unsigned perRegister = 32 / p.d.bits;
  std::array<std::array<Value, 4>, warpSize> values = {};
  for (auto &ofLane : values)
    for (Value &value : ofLane)
      value.known = 0;
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 8; ++column) {
      Place at = placeInC(row, column, p.d);
      Value &value = values[at.lane][at.element / perRegister];
      unsigned half = at.element % perRegister, index = row * 8 + column;
      value.bits |= bitsOf(p.d, d.values[index]) << (half * p.d.bits);
      if (d.known[index])
        value.known |= ((1u << p.d.bytes()) - 1) << (half * p.d.bytes());
    }
  for (unsigned lane = 0; lane < warpSize; ++lane)
    for (auto [i, to] : enumerate(p.to))
      warp.write(to, lane, b32, values[lane][i]);
}

/// An f64 sum with one rounding at its end; the manual leaves the order open.
/// An element is known if its row of A, its column of B and its own are.
static void multiply(Warp &warp, const Product &p) {
  Matrix a = readMatrix(warp, p.fromA, p.a, Matrix(16, p.k), placeInA);
  Matrix b = readMatrix(warp, p.fromB, p.b, Matrix(p.k, 8), placeInB);
  Matrix c = readMatrix(warp, p.fromC, p.c, Matrix(16, 8), placeInC);
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 8; ++column) {
      double sum = 0;
      bool known = c.known[row * 8 + column];
      for (unsigned k = 0; k < p.k; ++k) {
        sum += a.values[row * p.k + k] * b.values[k * 8 + column];
        known &= a.known[row * p.k + k] && b.known[k * 8 + column];
      }
      c.values[row * 8 + column] += sum;
      c.known[row * 8 + column] = known;
    }
  writeMatrix(warp, p, c);
  warp.block.device.report.countProducts(2 * 16 * 8 * p.k);
}

static bool isSupported(const Product &p) {
  bool half = p.a.kind == Type::Float && p.a.bits == 16;
  bool narrow = half || p.a.kind == Type::BFloat;
  bool shape = narrow ? p.k == 16 || p.k == 8
                      : p.a.kind == Type::TFloat && (p.k == 8 || p.k == 4);
  bool sums = p.c.kind == Type::Float && p.c.elements == 1 &&
              (p.c.bits == 32 || (p.c.bits == 16 && half));
  return shape && sums && p.a.kind == p.b.kind && p.c.bits == p.d.bits;
}

static Action decodeProductOfMatrices(Decoder &decoder) {
  static const std::pair<StringRef, unsigned> shapes[] = {
      {"m16n8k16", 16}, {"m16n8k8", 8}, {"m16n8k4", 4}};
  Product p;
  p.k = 0;
  for (auto &[name, k] : shapes)
    if (decoder.take(name))
      p.k = k;
  bool form = decoder.take("sync") && decoder.take("aligned") &&
              decoder.take("row") && decoder.take("col");
  p.d = decoder.takeType();
  p.a = decoder.takeType();
  p.b = decoder.takeType();
  p.c = decoder.takeType();
  if (!form || !isSupported(p))
    return decoder.fail("this shape or type of mma is not supported");
  if (!decoder.expectOperands(4, 4))
    return {};
  for (const Operand &operand : decoder.list(0))
    p.to.push_back(decoder.destination(operand));
  SmallVector<Source, 4> *fragments[] = {&p.fromA, &p.fromB, &p.fromC};
  for (auto [i, fragment] : enumerate(fragments))
    for (const Operand &operand : decoder.list(i + 1))
      fragment->push_back(decoder.source(operand, b32));
  unsigned ofA = 16 * p.k * p.a.bits / 32 / warpSize, ofC = p.c.bits / 8;
  if (p.fromA.size() != ofA || p.fromB.size() != ofA / 2 ||
      p.fromC.size() != ofC || p.to.size() != ofC)
    return decoder.fail("the fragments have " + Twine(ofA) + ", " +
                        Twine(ofA / 2) + " and " + Twine(ofC) + " registers");
  return [p](Warp &warp, uint32_t lanes) {
    if (requireAllLanes(warp, lanes) && lanes == allLanes)
      multiply(warp, p);
    else
      warp.block.fail("mma takes a whole warp");
  };
}

namespace {
/// Up to four 8 x 8 matrices of 16 bits, whose rows' addresses 8 lanes give.
struct MatrixLoad {
  Address at;
  Space space;
  bool transposed;
  SmallVector<int, 4> to;
};
} // namespace

/// A row is read for all lanes, so all race together.
static bool readRow(Warp &warp, unsigned lane, const MatrixLoad &form,
                    std::array<Value, 8> &row) {
  Block &block = warp.block;
  uint64_t address = warp.addressOf(form.at, lane);
  if (form.space == Space::Generic)
    address -= sharedWindow;
  Bytes bytes = block.locate(warp, lane, Space::Shared, address, 16);
  if (!bytes)
    return false;
  std::string race = block.shared.note(
      block.shared.indexOf(address, 16), 16, Access::Read,
      {warp.index, SharedMemory::anyLane}, block.current->line);
  if (!race.empty()) {
    block.fail(warp, lane, "reads bytes of " + race);
    return false;
  }
  for (unsigned column = 0; column < 8; ++column)
    row[column] = load({bytes.data + 2 * column, bytes.known + 2 * column}, 2);
  return true;
}

static void loadMatrix(Warp &warp, const MatrixLoad &form) {
  SmallVector<uint64_t, warpSize> addresses;
  for (auto [i, to] : enumerate(form.to)) {
    std::array<std::array<Value, 8>, 8> matrix;
    for (unsigned row = 0; row < 8; ++row) {
      if (!readRow(warp, i * 8 + row, form, matrix[row]))
        return;
      addresses.push_back(warp.addressOf(form.at, i * 8 + row));
    }
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      unsigned row = lane / 4, column = lane % 4 * 2;
      Value low = form.transposed ? matrix[column][row] : matrix[row][column];
      Value high =
          form.transposed ? matrix[column + 1][row] : matrix[row][column + 1];
      warp.write(to, lane, b32,
                 {low.bits | high.bits << 16,
                  uint8_t((low.known & 3) | (high.known & 3) << 2)});
    }
  }
  warp.block.device.report.countShared(*warp.block.current, addresses, 16);
}

static Action decodeMatrixLoad(Decoder &decoder) {
  bool known =
      decoder.take("sync") && decoder.take("aligned") && decoder.take("m8n8");
  StringRef count = decoder.takeOneOf({"x1", "x2", "x4"});
  MatrixLoad form;
  form.transposed = decoder.take("trans");
  form.space = decoder.takeSpace();
  if (!known || count.empty() || decoder.takeType().bits != 16)
    return decoder.fail("this form of ldmatrix is not supported");
  if (!decoder.expectOperands(2, 2))
    return {};
  for (const Operand &operand : decoder.list(0))
    form.to.push_back(decoder.destination(operand));
  form.at = decoder.address(1);
  if (form.to.size() != size_t(count[1] - '0'))
    return decoder.fail("expected " + count.drop_front() + " registers");
  return [form](Warp &warp, uint32_t lanes) {
    if (requireAllLanes(warp, lanes) && lanes == allLanes)
      loadMatrix(warp, form);
    else
      warp.block.fail("ldmatrix takes a whole warp");
  };
}

void addMatrixInstructions(DecodeTable &table) {
  table["mma"] = decodeProductOfMatrices;
  table["ldmatrix"] = decodeMatrixLoad;
}

} // namespace attn::ptx
