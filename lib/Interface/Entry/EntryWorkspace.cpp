// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory in which a call on a processor keeps what it computes in between.
#include "Entry.h"

using namespace mlir;
using namespace attn;
using namespace attn::entry;
using LLVM::ICmpPredicate;

std::pair<Value, Value> entry::takeWorkspace(Emitter &e,
                                             const ArgsLayout &layout,
                                             Value args, Value bytes) {
  auto loadOfCall = [&](Type type, int64_t offset) {
    return e.load(type, args, layout.call() + offset);
  };
  auto allocate = e.declare("attn_rt_take_workspace", e.ptr, e.i64);
  Value given = loadOfCall(e.ptr, offsetof(attn_rt_call, workspace));
  Region *region = e.b.getInsertionBlock()->getParent();
  Block *here = e.b.getInsertionBlock();
  Block *own = e.b.createBlock(region, region->end());
  Block *check = e.b.createBlock(region, region->end());
  Block *next = e.b.createBlock(region, region->end(), {e.ptr, e.ptr},
                                {e.b.getLoc(), e.b.getLoc()});
  e.b.setInsertionPointToEnd(here);
  LLVM::CondBrOp::create(e.b, e.compare(ICmpPredicate::eq, given, e.null()),
                         own, check);
  e.b.setInsertionPointToEnd(own);
  Value space = e.call(allocate, bytes);
  Value failed =
      LLVM::AndOp::create(e.b, e.compare(ICmpPredicate::eq, space, e.null()),
                          e.compare(ICmpPredicate::ne, bytes, 0));
  e.returnIf(failed, e.constant(e.i32, OutOfMemory));
  LLVM::BrOp::create(e.b, ValueRange{space, space}, next);

  e.b.setInsertionPointToEnd(check);
  e.returnIf(
      e.compare(ICmpPredicate::ult,
                loadOfCall(e.i64, offsetof(attn_rt_call, workspace_size)),
                bytes),
      e.constant(e.i32, WorkspaceTooSmall));
  LLVM::BrOp::create(e.b, ValueRange{given, e.null()}, next);

  e.b.setInsertionPointToEnd(next);
  return {next->getArgument(0), next->getArgument(1)};
}

Value entry::alignWorkspace(Emitter &e, Value space) {
  Value start = LLVM::PtrToIntOp::create(e.b, e.i64, space);
  start = LLVM::AddOp::create(e.b, start,
                              e.constant(e.i64, workspaceAlignment - 1));
  start =
      LLVM::AndOp::create(e.b, start, e.constant(e.i64, -workspaceAlignment));
  return LLVM::IntToPtrOp::create(e.b, e.ptr, start);
}
