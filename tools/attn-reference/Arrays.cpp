// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Arrays.h"
#include "attn-rt/npy.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace attn::reference;

static llvm::Error failed(const std::string &path, const Twine &what) {
  return llvm::createStringError(path + ": " + what);
}

namespace {
/// An array that frees its data.
struct Array : attn_rt_array {
  Array() : attn_rt_array() {}
  ~Array() {
    if (data)
      attn_rt_array_free(this);
  }
  Array(const Array &) = delete;
};
} // namespace

/// What an array of this attn_rt_dtype holds.
static Type typeOf(int32_t dtype, MLIRContext *context) {
  switch (dtype) {
#define ATTN_ELEMENT(enumerator, code, type, name, bytes, c_type, descr)       \
  case enumerator:                                                             \
    return parseType(type, context);
#include "attn-rt/elements.inc"
  }
  return Type();
}

static bool fits(Type held, Type element) {
  return isa<FloatType>(held) == isa<FloatType>(element) &&
         held.isInteger(1) == element.isInteger(1);
}

llvm::Expected<Datum> attn::reference::readArray(const std::string &path,
                                                 Type type) {
  Array array;
  char error[512];
  if (attn_rt_npy_read(path.c_str(), &array, error, sizeof(error)))
    return failed(path, error);
  Type element = getElementTypeOrSelf(type);
  Type held = typeOf(array.dtype, type.getContext());
  if (!fits(held, element)) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return failed(path, Twine("holds ") + attn_rt_dtype_name(array.dtype) +
                            ", but the argument is " + text);
  }
  Tensor tensor(ArrayRef<int64_t>(array.shape, array.rank));
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const char *at = static_cast<const char *>(array.data) + i * bytesOf(held);
    tensor.elements[i] = load(held, at);
    if (auto floatType = dyn_cast<FloatType>(element))
      tensor.elements[i].real = roundTo(floatType, tensor.elements[i].real);
  }
  if (isa<RankedTensorType>(type))
    return makeDatum(std::move(tensor));
  if (tensor.size() != 1)
    return failed(path, "holds more than the one number of a scalar argument");
  return Datum(tensor.elements.front());
}

static double asDouble(Type element, Number number) {
  return isa<FloatType>(element) ? number.real
                                 : static_cast<double>(number.integer);
}

/// Writes to a temporary file that `file` names.
static llvm::Error stage(const std::string &path, Type type, const Datum &datum,
                         attn_rt_npy_file &file) {
  auto *tensor = std::get_if<std::shared_ptr<const Tensor>>(&datum);
  auto *number = std::get_if<Number>(&datum);
  if (!tensor && !number)
    return failed(path, "a state has no file format");
  Array array;
  char error[512];
  array.dtype = ATTN_F64;
  if (tensor) {
    if ((*tensor)->rank() > ATTN_MAX_RANK)
      return failed(path, "the result has too many dimensions");
    array.rank = (*tensor)->rank();
    llvm::copy((*tensor)->shape, array.shape);
  }
  if (attn_rt_array_allocate(&array, error, sizeof(error)))
    return failed(path, error);
  ArrayRef<Number> numbers = tensor ? ArrayRef<Number>((*tensor)->elements)
                                    : ArrayRef<Number>(*number);
  for (auto [i, from] : llvm::enumerate(numbers))
    static_cast<double *>(array.data)[i] =
        asDouble(getElementTypeOrSelf(type), from);
  if (attn_rt_npy_stage(path.c_str(), &array, &file, error, sizeof(error)))
    return failed(path, error);
  return llvm::Error::success();
}

llvm::Error attn::reference::writeArrays(ArrayRef<std::string> paths,
                                         TypeRange types,
                                         ArrayRef<Datum> data) {
  SmallVector<attn_rt_npy_file> files;
  for (auto [path, type, datum] : llvm::zip_equal(paths, types, data)) {
    attn_rt_npy_file file = {};
    if (llvm::Error error = stage(path, type, datum, file)) {
      for (attn_rt_npy_file &staged : files)
        attn_rt_npy_discard(&staged);
      return error;
    }
    files.push_back(file);
  }
  char message[512];
  llvm::Error error = llvm::Error::success();
  for (auto [path, file] : llvm::zip_equal(paths, files))
    if (attn_rt_npy_commit(&file, message, sizeof(message)))
      error = llvm::joinErrors(std::move(error), failed(path, message));
  return error;
}

static void printNumber(llvm::raw_ostream &stream, Type element,
                        Number number) {
  if (isa<FloatType>(element)) {
    if (std::isnan(number.real)) // its sign means nothing
      stream << "nan";
    else
      stream << llvm::format("%.9g", number.real);
  } else if (element.isInteger(1)) {
    stream << (number.integer ? "true" : "false");
  } else {
    stream << number.integer;
  }
}

/// Prints dimension `d` on; `next` is the first element not yet printed.
static void printLists(llvm::raw_ostream &stream, Type element,
                       const Tensor &tensor, int64_t d, int64_t &next) {
  if (d == tensor.rank())
    return printNumber(stream, element, tensor.elements[next++]);
  stream << "[";
  for (int64_t i = 0; i < tensor.shape[d]; ++i) {
    stream << (i ? ", " : "");
    printLists(stream, element, tensor, d + 1, next);
  }
  stream << "]";
}

void attn::reference::print(llvm::raw_ostream &stream, Type type,
                            const Datum &datum) {
  Type element = getElementTypeOrSelf(type);
  int64_t next = 0;
  if (auto *number = std::get_if<Number>(&datum))
    printNumber(stream, element, *number);
  else if (auto *tensor = std::get_if<std::shared_ptr<const Tensor>>(&datum))
    printLists(stream, element, **tensor, 0, next);
  else
    stream << type;
}
