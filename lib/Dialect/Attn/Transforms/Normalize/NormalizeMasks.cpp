// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks in one canonical form; part of attn-normalize.
//
// Before:  %m = attn.mask_fn %s (%b, %h, %q, %k) with (%t = %table : ..) { .. }
// After:   %m = attn.mask %s where predicate(#attn.program<..>, %table : ..)
//
// A remark says for each predicate whether the analysis can read it and, if
// not, which op is in the way: its tiles are then tested pair by pair, within
// the bounds of what could be read.
#include "NormalizeMasks.h"
#include "attn/Dialect/Attn/IR/Mask/MaskProgram.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace attn;

static void remarkRefusals(MaskFnOp op, ArrayRef<ProgramRefusal> refusals,
                           ArrayRef<Operation *> ops) {
  if (refusals.empty()) {
    remark::passed(
        op.getLoc(),
        remark::RemarkOpts::name("LinearPredicate").category("attn-normalize"))
        << "the predicate is linear: its tiles follow from it";
    return;
  }
  for (const ProgramRefusal &refusal : refusals)
    remark::missed(
        ops[refusal.step]->getLoc(),
        remark::RemarkOpts::name("OpaquePredicate").category("attn-normalize"))
        << "the predicate is tested for every pair of the tiles that remain: " +
               ops[refusal.step]->getName().getStringRef().str() + " " +
               refusal.reason;
}

static void maskFromPredicate(MaskFnOp op, IRRewriter &rewriter) {
  SmallVector<Operation *> ops;
  SmallVector<unsigned> captures;
  ProgramAttr program = programOf(op, ops, captures);
  SmallVector<Value> tensors;
  SmallVector<OperandAttr> operands;
  for (unsigned position : captures) {
    operands.push_back(OperandAttr::get(op.getContext(), tensors.size()));
    tensors.push_back(op.getCaptures()[position]);
  }
  MaskContext context;
  SmallVector<ProgramRefusal> refusals;
  programFormula(context, program, operands, nullptr, refusals);
  remarkRefusals(op, refusals, ops);
  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<MaskOp>(
      op, op.getType(), op.getScores(),
      PredicateAttr::get(op.getContext(), program, operands), tensors);
}

void attn::normalizeMasks(Operation *root, IRRewriter &rewriter) {
  root->walk([&](MaskFnOp op) { maskFromPredicate(op, rewriter); });
}
