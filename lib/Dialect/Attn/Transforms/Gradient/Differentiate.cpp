// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-differentiate: a function with arguments that are learned becomes three.
//
//   func.func @f(%q {attn.gradient}, %k, %v {attn.gradient}) -> (%out) {
//     %out = attn.sdpa %q, %k, %v scale 0.125 where causal(top_left)
//     return %out
//   }
// stays as it is, and gets beside it
//   func.func @f_forward(%q, %k, %v) -> (%out, %residual_0) {
//     %out, %lse = attn.sdpa .. returning(out, lse)
//     return %out, %lse
//   }
//   func.func @f_gradient(%q, %k, %v, %out, %residual_0, %d_out)
//       -> (%d_q, %d_v) {
//     %d_q, %d_v = attn.sdpa_grad %q, %k, %v scale 0.125
//         where causal(top_left) out %out lse %residual_0
//         cotangents %d_out wrt ["query", "value"]
//     return %d_q, %d_v
//   }
//
// d_out is the derivative of some number, the loss, by `out`; d_q is that by
// `q`. There is one for every float result that depends on what is learned; a
// caller may leave it out, and it is 0 then (attn.optional).
//
// Residuals are what the gradient needs of the forward pass and what is dear to
// compute: results of attn.sdpa (out and the logarithm of each row's sum),
// attn.project and attn.finalize_state. All else is computed again from them
// and from the arguments. One that is a result of the function has the name of
// that result and is not returned twice. The out of an attention of 16 bits is
// a residual of f32, which the function rounds for its result; with the
// function's attribute `attn.rounded_residuals` it is the rounded one.
//
// The rules are reverse mode on the ops of the fused level, from the last op to
// the first (AttentionRules, GraphRules, TensorRules, LoopRules). What is used
// several times gets the sum of its gradients, in the order of the uses from
// the end.
//
// Before: attn-fuse has run. After: the same, with attn.sdpa_grad in the third
// function, and no attn.gradient. Refused: a gradient by something else than a
// tensor of floats, and at the op one whose derivative is not known.
#include "Adjoints.h"
#include "NameSizes.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace attn {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static constexpr StringLiteral gradientAttr = "attn.gradient";
static constexpr StringLiteral nameAttr = "attn.name";
static constexpr StringLiteral roundedAttr = "attn.rounded_residuals";

static bool isFloatTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

namespace {
/// The pair of functions that are made of one.
class Pair {
public:
  explicit Pair(func::FuncOp function) : function(function) {}

  LogicalResult make();
  /// Drops the functions of other names; with an empty one, none.
  void keep(StringRef only);

private:
  LogicalResult check();
  LogicalResult checkNames();
  func::FuncOp cloneAs(func::FuncOp from, StringRef suffix, IRMapping &mapping);
  StringAttr unique(const Twine &name);
  std::string resultName(unsigned result);
  void findActive(Adjoints &adjoints);
  void addCotangents(Adjoints &adjoints);
  LogicalResult followAll(Adjoints &adjoints);
  void returnGradients(Adjoints &adjoints);
  void keepResiduals();
  void addResidual(Value value);

  func::FuncOp function, forward, gradient;
  IRMapping toGradient;                   ///< from `forward`
  llvm::DenseMap<Value, Value> toForward; ///< and back, of all arguments
  SmallVector<unsigned> learned;          ///< arguments
  SmallVector<Operation *> forwardOps;    ///< in `gradient`
  SmallVector<Value> results;             ///< of `forward`, in `gradient`
  unsigned residuals = 0;
  llvm::StringSet<> names; ///< ports of `gradient`
};
} // namespace

LogicalResult Pair::check() {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (!function.getArgAttr(i, gradientAttr))
      continue;
    if (!isFloatTensor(function.getArgument(i)))
      return function.emitOpError()
             << "expects attn.gradient on tensors of floats, but argument " << i
             << " has type " << function.getArgument(i).getType();
    learned.push_back(i);
  }
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("has branches, and so no gradient");
  for (StringRef suffix : {"_forward", "_gradient"})
    if (SymbolTable::lookupNearestSymbolFrom(
            function, StringAttr::get(function.getContext(),
                                      function.getName() + suffix)))
      return function.emitOpError()
             << "has a gradient, which is called '" << function.getName()
             << suffix << "', but there is a function of this name";
  return checkNames();
}

/// Callers find the ports of a gradient by their names.
LogicalResult Pair::checkNames() {
  llvm::StringSet<> reserved;
  auto nameOf = [&](unsigned argument) {
    auto name = function.getArgAttrOfType<StringAttr>(argument, nameAttr);
    return name ? name.getValue() : StringRef();
  };
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    reserved.insert("d_" + resultName(i));
  for (unsigned i : learned)
    reserved.insert(("d_" + nameOf(i)).str());
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    StringRef name = nameOf(i), number = name;
    bool isResidual = number.consume_front("residual_") && !number.empty() &&
                      llvm::all_of(number, llvm::isDigit);
    if (isResidual || reserved.contains(name))
      return function.emitOpError()
             << "has a gradient, one of whose ports is called '" << name
             << "', but there is an argument of this name";
  }
  return success();
}

func::FuncOp Pair::cloneAs(func::FuncOp from, StringRef suffix,
                           IRMapping &mapping) {
  OpBuilder b(from->getContext());
  b.setInsertionPointAfter(from);
  auto clone = cast<func::FuncOp>(b.clone(*from, mapping));
  clone.setName((function.getName() + suffix).str());
  return clone;
}

StringAttr Pair::unique(const Twine &name) {
  std::string base = name.str(), chosen = base;
  for (unsigned i = 1; !names.insert(chosen).second; ++i)
    chosen = base + "_" + std::to_string(i);
  return StringAttr::get(function.getContext(), chosen);
}

std::string Pair::resultName(unsigned result) {
  auto name = function.getResultAttrOfType<StringAttr>(result, nameAttr);
  return name ? name.str() : "out" + std::to_string(result);
}

/// Whether the regions of `op` read what a learned argument reaches.
static bool readsActive(const Adjoints &adjoints, Operation *op) {
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  return llvm::any_of(captured,
                      [&](Value value) { return adjoints.isActive(value); });
}

/// What depends on a learned argument.
void Pair::findActive(Adjoints &adjoints) {
  for (unsigned i : learned)
    adjoints.activate(gradient.getArgument(i));
  auto isActive = [&](Value value) { return adjoints.isActive(value); };
  auto isFloat = [](Value value) {
    return isa<FloatType>(getElementTypeOrSelf(value));
  };
  for (Operation *op : forwardOps) {
    if (llvm::none_of(op->getOperands(), isActive) &&
        !readsActive(adjoints, op))
      continue;
    // Bits of a float carry what it depends on; other integers are steps.
    bool carriesBits = isa<arith::BitcastOp>(op) ||
                       llvm::any_of(op->getOperands(), [&](Value operand) {
                         return isActive(operand) && !isFloat(operand);
                       });
    for (Value result : op->getResults())
      if (carriesBits || isFloat(result))
        adjoints.activate(result);
  }
}

/// An argument for each float result that is active, in their order.
void Pair::addCotangents(Adjoints &adjoints) {
  for (auto [i, result] : llvm::enumerate(results)) {
    if (!adjoints.isActive(result))
      continue;
    unsigned position = gradient.getNumArguments();
    Builder b(gradient.getContext());
    NamedAttribute attributes[] = {
        {b.getStringAttr(nameAttr), unique("d_" + resultName(i))},
        {b.getStringAttr(PortAttr::optionalAttr), b.getUnitAttr()}};
    (void)gradient.insertArgument(position, result.getType(),
                                  b.getDictionaryAttr(attributes),
                                  result.getLoc());
    adjoints.add(result, gradient.getArgument(position));
    toForward[gradient.getArgument(position)] = toForward.lookup(result);
  }
}

static LogicalResult followOne(Adjoints &adjoints, Operation *op) {
  if (Ruled done = followLoop(adjoints, op))
    return *done;
  if (readsActive(adjoints, op))
    return op->emitOpError("has no gradient for what its region reads from "
                           "outside, which a learned argument reaches");
  for (auto rules : {followAttention, followGraphOp, followTensorOp})
    if (Ruled done = rules(adjoints, op))
      return *done;
  InFlightDiagnostic error =
      op->emitOpError("has no gradient that is known, but a learned argument "
                      "reaches a result through it");
  if (auto reason = op->getAttrOfType<StringAttr>("attn.not_fused"))
    error << "; it is not part of an attention that could be fused: "
          << reason.getValue();
  return error;
}

LogicalResult Pair::followAll(Adjoints &adjoints) {
  for (Operation *op : llvm::reverse(forwardOps)) {
    auto has = [&](Value v) { return adjoints.asAdded(v) != nullptr; };
    if (llvm::any_of(op->getResults(), has) && failed(followOne(adjoints, op)))
      return failure();
  }
  return success();
}

/// The function returns d_<argument> for each learned argument.
void Pair::returnGradients(Adjoints &adjoints) {
  MLIRContext *context = gradient.getContext();
  Operation *end = gradient.front().getTerminator();
  SmallVector<Value> values;
  SmallVector<Attribute> attributes;
  for (unsigned i : learned) {
    Value argument = gradient.getArgument(i);
    Value sum = adjoints.asAdded(argument);
    values.push_back(sum ? sum : adjoints.zerosLike(argument));
    auto name = gradient.getArgAttrOfType<StringAttr>(i, nameAttr);
    std::string text = name ? name.str() : "arg" + std::to_string(i);
    NamedAttribute port(StringAttr::get(context, nameAttr),
                        unique("d_" + text));
    attributes.push_back(DictionaryAttr::get(context, port));
  }
  end->setOperands(values);
  gradient.setFunctionType(FunctionType::get(
      context, gradient.getArgumentTypes(), ValueRange(values).getTypes()));
  gradient.setResAttrsAttr(ArrayAttr::get(context, attributes));
}

/// What is kept, since to compute it again would cost a product.
static bool isDear(Operation *op) {
  return isa<SdpaOp, ProjectOp, FinalizeStateOp, MergeStatesOp>(op);
}

void Pair::addResidual(Value value) {
  MLIRContext *context = gradient.getContext();
  auto returned = llvm::find(results, value);
  std::string name;
  if (returned != results.end()) {
    name = resultName(returned - results.begin());
  } else {
    name = "residual_" + std::to_string(residuals++);
    Value kept = toForward.lookup(value);
    Operation *end = forward.front().getTerminator();
    end->insertOperands(end->getNumOperands(), kept);
    (void)forward.insertResult(
        forward.getNumResults(), kept.getType(),
        DictionaryAttr::get(context,
                            NamedAttribute(StringAttr::get(context, nameAttr),
                                           StringAttr::get(context, name))));
  }
  // Behind the arguments of the function, in front of the cotangents.
  unsigned position = function.getNumArguments();
  while (position < gradient.getNumArguments() &&
         gradient.getArgAttr(position, PortAttr::residualAttr))
    ++position;
  NamedAttribute attributes[] = {
      {StringAttr::get(context, nameAttr), unique(name)},
      {StringAttr::get(context, PortAttr::residualAttr),
       UnitAttr::get(context)}};
  (void)gradient.insertArgument(position, value.getType(),
                                DictionaryAttr::get(context, attributes),
                                value.getLoc());
  value.replaceAllUsesWith(gradient.getArgument(position));
  toForward[gradient.getArgument(position)] = toForward.lookup(value);
}

/// Ops that the gradient needs stay if they are cheap; of others the results
/// become arguments.
void Pair::keepResiduals() {
  llvm::DenseSet<Operation *> ofForward(forwardOps.begin(), forwardOps.end());
  llvm::DenseSet<Value> needed;
  for (Operation &op : llvm::reverse(gradient.front())) {
    bool inForward = ofForward.contains(&op);
    if (inForward &&
        (isDear(&op) || llvm::none_of(op.getResults(), [&](Value v) {
           return needed.contains(v);
         })))
      continue;
    op.walk([&](Operation *inner) {
      needed.insert(inner->operand_begin(), inner->operand_end());
    });
  }
  for (Operation *op : forwardOps)
    if (isDear(op))
      for (Value result : op->getResults())
        if (needed.contains(result))
          addResidual(result);
  llvm::MapVector<StringRef, Location> again;
  for (Operation *op : llvm::reverse(forwardOps)) {
    if (isOpTriviallyDead(op))
      op->erase();
    else if (!op->hasTrait<OpTrait::ConstantLike>() &&
             !isa<tensor::DimOp, tensor::EmptyOp>(op))
      again.insert({op->getName().getStringRef(), op->getLoc()});
  }
  for (auto [name, loc] : llvm::reverse(again))
    remark::passed(loc, remark::RemarkOpts::name("ComputedAgain")
                            .category("attn-differentiate"))
        << (name + " is computed again in @" + gradient.getName()).str();
}

LogicalResult Pair::make() {
  if (failed(check()))
    return failure();
  for (unsigned i : learned)
    function.removeArgAttr(i, gradientAttr);
  IRMapping toClone;
  forward = cloneAs(function, "_forward", toClone);
  returnResiduals(forward, function->hasAttr(roundedAttr));
  gradient = cloneAs(forward, "_gradient", toGradient);
  for (auto [from, to] : toGradient.getValueMap())
    toForward[to] = from;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto name = function.getArgAttrOfType<StringAttr>(i, nameAttr))
      names.insert(name);
  for (Operation &op : gradient.front().without_terminator())
    forwardOps.push_back(&op);
  Operation *end = gradient.front().getTerminator();
  results = SmallVector<Value>(end->getOperands());
  OpBuilder b(end);
  Adjoints adjoints(b);
  findActive(adjoints);
  addCotangents(adjoints);
  if (failed(followAll(adjoints)))
    return failure();
  returnGradients(adjoints);
  keepResiduals();
  return nameSizes(forward, gradient, toForward);
}

void Pair::keep(StringRef only) {
  for (func::FuncOp each : {function, forward, gradient})
    if (!only.empty() && each.getName() != only)
      each.erase();
}

namespace {
struct Differentiate : attn::impl::DifferentiateBase<Differentiate> {
  using DifferentiateBase::DifferentiateBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      bool learns = false;
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        learns |= static_cast<bool>(function.getArgAttr(i, gradientAttr));
      if (learns && !function.isExternal())
        functions.push_back(function);
    }
    for (func::FuncOp function : functions) {
      Pair pair(function);
      if (failed(pair.make()))
        return signalPassFailure();
      pair.keep(only);
    }
  }
};
} // namespace
