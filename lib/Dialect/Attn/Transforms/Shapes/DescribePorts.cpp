// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-describe-ports: what a caller must know about a function's arguments.
//
//   func.func @f(%q: tensor<?x?x64xf32> {attn.name = "q"}, ..)
// gets
//   attn.ports = [#attn.port<"q", input [q0, q1, 64] : tensor<?x?x64xf32>>,
//                 ..]
//
// Two dimensions that must have the same size get the same symbol, named after
// its first use in the order of the arguments, or as that argument's
// `attn.sizes` calls it: names of a model, by which sizes are also told to be
// the same. Which must be the same follows from the ops: a union-find over all
// dimensions of all tensors of the function collects what each op requires. A
// dimension that must equal a static size has that size and no symbol, although
// its type may not know it.
//
// A result may have a size that is computed from others: that of a
// tensor.concat is "past+new" or "q0+4", that of rows in one "b*s" and that of
// every second row "(t+1)/2".
//
// A table that a region captures must have an element, unless there is no query
// to read it for;
//   #attn.port<"table", .., not_empty [[q0, q2]]>
// says: where both q0 and q2 are above 0.
//
// A result with the attribute attn.in_place may be the memory of the argument
// that it names, as a cache to which a call adds.
//
// Before: ops of the graph and the fused level. After: the same. Not handled:
// numbers of query and key heads that are both unknown; attn-check-target
// refuses them.
#include "ResultSizes.h"
#include "ShapeConstraints.h"
#include "attn-rt/attn.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Interface/CNames.h"
#include "attn/Interface/ElementTypes.h"
#include "attn/Interface/KernelSignature.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace attn {
#define GEN_PASS_DEF_DESCRIBEPORTS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// What an #attn.port is made of.
struct Port {
  std::string name;
  RankedTensorType type;
  bool input;
  SmallVector<int64_t> sizes{};
  SmallVector<StringAttr> symbols{}, overlaps{};
  SmallVector<ArrayAttr> notEmpty{};
  bool optional = false;

  PortAttr attr() const {
    MLIRContext *context = type.getContext();
    return PortAttr::get(context, StringAttr::get(context, name), input, sizes,
                         symbols, type, notEmpty, overlaps, optional);
  }
};

struct DescribePorts : attn::impl::DescribePortsBase<DescribePorts> {
  LogicalResult checkName(func::FuncOp function);
  LogicalResult checkPrivateNames();
  LogicalResult checkPortName(Location loc, StringRef what, Attribute given,
                              StringRef name, llvm::StringSet<> &used);
  LogicalResult checkType(Location loc, StringRef what, StringRef name,
                          Type type);
  LogicalResult addInPlace(func::FuncOp function, unsigned result, Port &port,
                           ArrayRef<Port> inputs);
  LogicalResult describe(func::FuncOp function);

  void runOnOperation() override {
    if (failed(checkPrivateNames()))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal() &&
          failed(describe(function)))
        return signalPassFailure();
  }
};

/// Whether a caller may leave the value out.
bool isOptional(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
               : nullptr;
  return function &&
         function.getArgAttr(argument.getArgNumber(), PortAttr::optionalAttr);
}

/// Names dimensions in the order of their first use.
struct PortWriter {
  SizeClasses &classes;
  ResultSizes &computed;
  Builder builder;
  llvm::DenseMap<unsigned, std::string> symbols{};
  llvm::DenseMap<unsigned, std::string> given{}; ///< Names that sizes have.
  llvm::StringSet<> used{};

  /// `given` where there is a name, which no other size has.
  std::string nameOf(unsigned size, StringRef port, int64_t dim) {
    std::string name = given.lookup(size);
    if (name.empty() || used.contains(name))
      name = (port + Twine(dim)).str();
    while (!used.insert(name).second)
      name += "_";
    return name;
  }

  Port describe(StringRef name, Value value, bool input) {
    Port port{name.str(), cast<RankedTensorType>(value.getType()), input};
    port.optional = input && isOptional(value);
    for (int64_t i = 0; i < port.type.getRank(); ++i) {
      int64_t size = classes.sizeOf({value, i});
      port.sizes.push_back(size);
      std::string symbol;
      if (size < 0) {
        unsigned size = classes.find({value, i});
        symbol = input ? "" : computed.find(size, symbols);
        if (symbol.empty()) {
          auto [entry, isNew] = symbols.try_emplace(size);
          if (isNew)
            entry->second = nameOf(size, name, i);
          symbol = entry->second;
        }
      }
      port.symbols.push_back(builder.getStringAttr(symbol));
    }
    return port;
  }
};
} // namespace

/// Adds for whom `argument` must have an element.
static void addReaders(PortWriter &writer, Port &port, BlockArgument argument,
                       ArrayRef<Table> tables) {
  bool known =
      llvm::none_of(port.sizes, [](int64_t size) { return size <= 0; });
  for (const Table &table : tables) {
    if (table.tensor != argument || known)
      continue;
    SmallVector<Attribute> symbols;
    for (Dim reader : table.readers)
      if (auto symbol = writer.symbols.find(writer.classes.find(reader));
          symbol != writer.symbols.end())
        symbols.push_back(writer.builder.getStringAttr(symbol->second));
    ArrayAttr where = writer.builder.getArrayAttr(symbols);
    if (!llvm::is_contained(port.notEmpty, where))
      port.notEmpty.push_back(where);
  }
}

LogicalResult DescribePorts::checkName(func::FuncOp function) {
  StringRef name = function.getName();
  if (std::string why = whyNotEntryName(name); !why.empty())
    return function.emitError()
           << "expects a public function whose name C can call, but got '"
           << name << "', which is " << why << "; choose another name";
  for (Operation &other : *function->getBlock()) {
    auto symbol = other.getAttrOfType<StringAttr>("sym_name");
    if (!symbol || &other == function)
      continue;
    StringRef rest = symbol.getValue();
    if (rest.consume_front(name) && rest.starts_with("."))
      return other.emitError()
             << "expects no name that begins with '" << name
             << ".', because the parts of '" << name
             << "' are called so, but got '" << symbol.getValue() << "'";
    bool isStruct = symbol.getValue() == cName(name, CName::Args);
    bool isTaken = llvm::any_of(cNames, [&](CName which) {
      return symbol.getValue() == cName(name, which);
    });
    if (isTaken && !(isStruct && SymbolTable::getSymbolVisibility(&other) ==
                                     SymbolTable::Visibility::Private))
      return function.emitError()
             << "expects no other '" << symbol.getValue()
             << "' in the module, because "
             << (isStruct ? "the argument struct" : "a C function") << " of '"
             << name << "' is called so";
  }
  if (!function.getBody().hasOneBlock())
    return function.emitError()
           << "expects a function without branches, but got several blocks";
  if (function.getNumResults() == 0)
    return function.emitError() << "expects a function with a result";
  return success();
}

/// Private functions have C names as well, if no one else sees them.
LogicalResult DescribePorts::checkPrivateNames() {
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (function.isPrivate() && !function.isExternal() &&
        isLinkedName(function.getName()))
      return function.emitError()
             << "expects a function whose name is its own, but got '"
             << function.getName()
             << "', a name of the C library, the linker or the runtime";
  return success();
}

/// `given` is the attribute attn.name of a port.
LogicalResult DescribePorts::checkPortName(Location loc, StringRef what,
                                           Attribute given, StringRef name,
                                           llvm::StringSet<> &used) {
  if (given && !isa<StringAttr>(given))
    return emitError(loc) << "expects attn.name to be a string, but got "
                          << given;
  if (std::string why = whyNotPortName(name); !why.empty())
    return emitError(loc) << "expects a name for " << what
                          << " that a member of a C struct can have, but got '"
                          << name << "', which is " << why
                          << "; choose another name";
  if (!used.insert(name).second)
    return emitError(loc) << "expects arguments and results of different "
                             "names, but got '"
                          << name << "' twice";
  return success();
}

LogicalResult DescribePorts::checkType(Location loc, StringRef what,
                                       StringRef name, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return emitError(loc) << "expects " << what << " '" << name
                          << "' to be a ranked tensor, but got " << type;
  if (tensor.getRank() > ATTN_MAX_RANK)
    return emitError(loc) << "expects " << what << " '" << name
                          << "' to have at most " << ATTN_MAX_RANK
                          << " dimensions, but got " << type;
  if (!findElementType(tensor.getElementType()))
    return emitError(loc) << "expects elements of " << what << " '" << name
                          << "' to be " << elementTypeNames() << ", but got "
                          << tensor.getElementType();
  return success();
}

static std::string nameOf(BlockArgument argument) {
  unsigned i = argument.getArgNumber();
  auto given = cast<func::FuncOp>(argument.getOwner()->getParentOp())
                   .getArgAttrOfType<StringAttr>(i, "attn.name");
  return given ? given.str() : "arg" + std::to_string(i);
}

/// A result of a function that only merges states may be either one's memory.
static void addOverlaps(Port &port, Value result) {
  auto merge = result.getDefiningOp<MergeStatesOp>();
  if (!merge || !llvm::hasNItems(*merge->getBlock(), 2))
    return;
  unsigned place = cast<OpResult>(result).getResultNumber();
  for (unsigned operand : {place, place + 3})
    if (auto argument = dyn_cast<BlockArgument>(merge->getOperand(operand)))
      port.overlaps.push_back(
          StringAttr::get(merge.getContext(), nameOf(argument)));
}

/// `attn.sizes` of an argument: a name per dimension, or an empty one.
static SmallVector<std::string> sizeNames(BlockArgument argument) {
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto names = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(),
                                                    "attn.sizes");
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  SmallVector<std::string> texts;
  if (!names || !type || static_cast<int64_t>(names.size()) != type.getRank())
    return texts;
  for (Attribute name : names) {
    auto text = dyn_cast<StringAttr>(name);
    texts.push_back(text && !text.empty() ? toPortName(text) : "");
  }
  return texts;
}

/// Sizes of one name are the same.
static void unifyNamedSizes(func::FuncOp function, SizeClasses &classes) {
  llvm::StringMap<Dim> first;
  for (BlockArgument argument : function.getArguments())
    for (auto [i, name] : llvm::enumerate(sizeNames(argument))) {
      Dim dim{argument, static_cast<int64_t>(i)};
      if (auto [entry, isNew] = first.try_emplace(name, dim);
          !name.empty() && !isNew)
        classes.unify(function, entry->second, dim);
    }
}

static void readNames(func::FuncOp function, PortWriter &writer) {
  for (BlockArgument argument : function.getArguments())
    for (auto [i, name] : llvm::enumerate(sizeNames(argument)))
      if (!name.empty())
        writer.given.try_emplace(
            writer.classes.find({argument, static_cast<int64_t>(i)}), name);
}

/// A result that may be written in the place of an argument, which its
/// attribute attn.in_place names.
LogicalResult DescribePorts::addInPlace(func::FuncOp function, unsigned result,
                                        Port &port, ArrayRef<Port> inputs) {
  Attribute given = function.getResultAttr(result, inPlaceAttr);
  if (!given)
    return success();
  auto name = dyn_cast<StringAttr>(given);
  const auto *argument = llvm::find_if(inputs, [&](const Port &input) {
    return name && input.name == name.getValue();
  });
  if (argument == inputs.end())
    return function.emitError()
           << "expects " << inPlaceAttr << " of result '" << port.name
           << "' to be the name of an argument, but got " << given;
  if (argument->type != port.type || argument->sizes != port.sizes ||
      argument->symbols != port.symbols)
    return function.emitError()
           << "expects result '" << port.name << "' in the place of argument '"
           << argument->name << "' to have its type and sizes, but got "
           << port.type << " and " << argument->type;
  for (unsigned other = 0; other < result; ++other)
    if (function.getResultAttr(other, inPlaceAttr) == given)
      return function.emitError()
             << "expects one result in the place of argument '"
             << argument->name << "', but got two";
  port.overlaps.push_back(name);
  return success();
}

LogicalResult DescribePorts::describe(func::FuncOp function) {
  if (failed(checkName(function)))
    return failure();
  SizeClasses classes;
  ShapeConstraints requirements(classes);
  function.walk([&](Operation *op) { requirements.collect(op); });
  unifyNamedSizes(function, classes);
  if (classes.failed)
    return failure();

  ResultSizes computed(function, classes);
  PortWriter writer{classes, computed, Builder(&getContext())};
  readNames(function, writer);
  std::vector<Port> inputs;
  llvm::StringSet<> used;
  for (BlockArgument argument : function.getArguments()) {
    std::string name = nameOf(argument);
    Type type = argument.getType();
    Attribute given = function.getArgAttr(argument.getArgNumber(), "attn.name");
    if (failed(checkPortName(argument.getLoc(), "an argument", given, name,
                             used)) ||
        failed(checkType(argument.getLoc(), "argument", name, type)))
      return failure();
    inputs.push_back(writer.describe(name, argument, /*input=*/true));
  }
  SmallVector<Attribute> ports;
  for (auto [argument, port] : llvm::zip(function.getArguments(), inputs)) {
    addReaders(writer, port, argument, requirements.tables);
    ports.push_back(port.attr());
  }
  size_t known = writer.symbols.size();
  Operation *end = function.front().getTerminator();
  for (auto [i, value] : llvm::enumerate(end->getOperands())) {
    auto given = function.getResultAttrOfType<StringAttr>(i, "attn.name");
    std::string name = given ? given.str() : "out" + std::to_string(i);
    if (failed(checkPortName(function.getLoc(), "a result",
                             function.getResultAttr(i, "attn.name"), name,
                             used)) ||
        failed(checkType(end->getLoc(), "result", name, value.getType())))
      return failure();
    Port port = writer.describe(name, value, /*input=*/false);
    addOverlaps(port, value);
    if (failed(addInPlace(function, i, port, inputs)))
      return failure();
    ports.push_back(port.attr());
    if (writer.symbols.size() != known)
      return end->emitError()
             << "result '" << name << "' of type " << value.getType()
             << " has a size that no argument tells";
  }
  function->setAttr(PortAttr::functionAttr, writer.builder.getArrayAttr(ports));
  return success();
}
