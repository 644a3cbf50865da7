// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async, its groups and the waits for them.
#include "Async.h"
#include "Decoder.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace attn::ptx {

bool AsyncCopies::empty() const {
  return open.empty() &&
         all_of(groups, [](auto &group) { return group.empty(); });
}

unsigned AsyncCopies::firstLine() const {
  for (auto &group : groups)
    if (!group.empty())
      return group.front().line;
  return open.empty() ? 0 : open.front().line;
}

void performCopy(Block &block, AsyncCopy &copy) {
  if (copy.done)
    return;
  copy.done = true;
  int64_t index = block.shared.indexOf(copy.destination, copy.bytes);
  Bytes to = block.shared.at(index);
  std::fill_n(to.data, copy.bytes, 0);
  std::fill_n(to.known, copy.bytes, 1);
  if (copy.sourceBytes == 0)
    return;
  std::string error;
  Bytes from = block.device.memory.locate(copy.source, copy.sourceBytes,
                                          Access::Read, error);
  std::copy_n(from.data, copy.sourceBytes, to.data);
  std::copy_n(from.known, copy.sourceBytes, to.known);
}

void waitForCopies(Warp &warp, unsigned lane, size_t kept) {
  AsyncCopies &copies = warp.copies[lane];
  Block &block = warp.block;
  while (copies.groups.size() > kept) {
    for (AsyncCopy &copy : copies.groups.front()) {
      performCopy(block, copy);
      block.shared.endCopy(block.shared.indexOf(copy.destination, copy.bytes),
                           copy.bytes, {warp.index, lane});
    }
    copies.groups.pop_front();
  }
}

namespace {
struct CopyForm {
  Address to, from;
  unsigned bytes;
  std::optional<Source> sourceBytes, ignored;
};
} // namespace

static void issueCopy(Warp &warp, unsigned lane, const CopyForm &form) {
  Block &block = warp.block;
  AsyncCopy copy;
  copy.line = block.current->line;
  copy.bytes = copy.sourceBytes = form.bytes;
  if (form.sourceBytes)
    copy.sourceBytes = warp.read(*form.sourceBytes, lane).bits;
  if (form.ignored && warp.read(*form.ignored, lane).bits)
    copy.sourceBytes = 0;
  copy.destination = warp.addressOf(form.to, lane);
  copy.source = warp.addressOf(form.from, lane);
  if (copy.sourceBytes > copy.bytes)
    return block.fail(warp, lane,
                      "copies " + Twine(copy.sourceBytes) + " bytes into " +
                          Twine(copy.bytes));
  if (!block.locate(warp, lane, Space::Shared, copy.destination, copy.bytes))
    return;
  if (copy.sourceBytes) {
    // The source is aligned to the whole copy, however little is read.
    if (copy.source % copy.bytes)
      return block.fail(warp, lane,
                        "copies from an address that is not "
                        "aligned to " +
                            Twine(copy.bytes) + " bytes");
    std::string error;
    if (!block.device.memory.locate(copy.source, copy.sourceBytes, Access::Read,
                                    error))
      return block.fail(warp, lane, "reads " + error);
    if (!block.noteGlobal(warp, lane, copy.source, copy.sourceBytes,
                          Access::Read))
      return;
  }
  std::string race =
      block.shared.beginCopy(block.shared.indexOf(copy.destination, copy.bytes),
                             copy.bytes, {warp.index, lane}, copy.line);
  if (!race.empty())
    return block.fail(warp, lane, "copies over bytes of " + race);
  if (block.device.launch.order == Order::Eager)
    performCopy(block, copy);
  warp.copies[lane].open.push_back(copy);
  block.device.report.countGlobal(copy.sourceBytes);
}

static Action decodeCopy(Decoder &decoder) {
  bool all = decoder.take("ca");
  if (!all && !decoder.take("cg"))
    return decoder.fail("expected .ca or .cg");
  if (!(decoder.take("shared") || decoder.take("shared::cta")) ||
      !decoder.take("global"))
    return decoder.fail("only copies from global to shared memory are "
                        "supported");
  decoder.takeHints();
  bool policy = decoder.take("L2::cache_hint");
  if (!decoder.expectOperands(3 + policy, 4 + policy))
    return {};
  CopyForm form;
  form.to = decoder.address(0);
  form.from = decoder.address(1);
  form.bytes = decoder.operand(2).value;
  bool sizes =
      form.bytes == 16 || (all && (form.bytes == 4 || form.bytes == 8));
  if (decoder.operand(2).kind != Operand::Immediate || !sizes)
    return decoder.fail("16 bytes are copied, or by .ca 4 or 8");
  if (decoder.count() == 4u + policy) {
    if (decoder.isPredicate(3))
      form.ignored = decoder.source(3, predicate);
    else
      form.sourceBytes = decoder.source(3, u32);
  }
  return [form](Warp &warp, uint32_t lanes) {
    forEachLane(lanes, [&](unsigned lane) { issueCopy(warp, lane, form); });
  };
}

static Action decodeCommit(Decoder &decoder) {
  decoder.expectOperands(0, 0);
  return [](Warp &warp, uint32_t lanes) {
    forEachLane(lanes, [&](unsigned lane) {
      AsyncCopies &copies = warp.copies[lane];
      copies.groups.push_back(std::move(copies.open));
      copies.open.clear();
    });
  };
}

static Action decodeWait(Decoder &decoder, bool all) {
  size_t kept = 0;
  if (decoder.expectOperands(!all, !all) && !all) {
    kept = decoder.operand(0).value;
    if (decoder.operand(0).kind != Operand::Immediate)
      return decoder.fail("a wait counts its groups by a number");
  }
  return [=](Warp &warp, uint32_t lanes) {
    forEachLane(lanes, [&](unsigned lane) {
      AsyncCopies &copies = warp.copies[lane];
      if (all) {
        copies.groups.push_back(std::move(copies.open));
        copies.open.clear();
      }
      waitForCopies(warp, lane, kept);
    });
  };
}

static Action decodeAsync(Decoder &decoder) {
  if (!decoder.take("async"))
    return decoder.fail("only cp.async is supported");
  if (decoder.take("commit_group"))
    return decodeCommit(decoder);
  if (decoder.take("wait_group"))
    return decodeWait(decoder, false);
  if (decoder.take("wait_all"))
    return decodeWait(decoder, true);
  return decodeCopy(decoder);
}

void addAsyncCopies(DecodeTable &table) { table["cp"] = decodeAsync; }

} // namespace attn::ptx
