// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ptxsim: runs a kernel of PTX without a GPU, and says what a GPU would not:
// races, reads of what was never written, accesses out of
// bounds, barriers that not all threads reach, bank conflicts.
//   ptxsim kernel.ptx --grid=4,2 --block=128 q.npy out=o.npy:f16:2x8 i32:64
// Arguments.h says how arguments are written. It knows what sm_80 has; of
// Hopper's own instructions (TMA, wgmma, mbarrier) it knows none.
#include "Arguments.h"
#include "Decoder.h"
#include "Launch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace attn::ptx {

static cl::OptionCategory category("ptxsim");
static cl::opt<std::string> input(cl::Positional, cl::Required,
                                  cl::desc("kernel.ptx"), cl::cat(category));
static cl::list<std::string> texts(cl::Positional, cl::desc("[arguments...]"),
                                   cl::cat(category));
static cl::opt<std::string>
    entryName("entry", cl::cat(category), cl::value_desc("name"),
              cl::desc("the kernel; default: the only one"));
static cl::list<uint32_t> grid("grid", cl::CommaSeparated, cl::cat(category),
                               cl::value_desc("x,y,z"),
                               cl::desc("blocks; default: 1"));
static cl::list<uint32_t> block("block", cl::CommaSeparated, cl::cat(category),
                                cl::value_desc("x,y,z"),
                                cl::desc("threads of a block; default: what "
                                         "the kernel requires, or 32"));
static cl::opt<uint32_t> sharedBytes("dynamic-shared", cl::cat(category),
                                     cl::value_desc("bytes"),
                                     cl::desc("shared memory beyond what the "
                                              "kernel declares"));
static cl::opt<Order> order(
    "order", cl::cat(category), cl::init(Order::Late),
    cl::desc("when asynchronous copies happen:"),
    cl::values(clEnumValN(Order::Late, "late", "when they are waited for"),
               clEnumValN(Order::Eager, "eager", "at once"),
               clEnumValN(Order::Random, "random", "in between")));
static cl::opt<uint64_t> seed("seed", cl::cat(category),
                              cl::desc("of the order in which warps run"));
static cl::opt<uint64_t> limit("limit", cl::cat(category),
                               cl::init(1'000'000'000),
                               cl::desc("instructions of warps at most"));
static cl::opt<bool>
    printReport("report", cl::cat(category),
                cl::desc("print instructions, matrix flops, bank conflicts"));

static Expected<Entry *> chooseEntry(Module &module) {
  if (entryName.empty() && module.entries.size() == 1)
    return &module.entries.front();
  for (Entry &entry : module.entries)
    if (entry.name == entryName)
      return &entry;
  if (entryName.empty())
    return createStringError(input +
                             " has several kernels; --entry=NAME chooses one");
  return createStringError("there is no kernel '" + entryName + "' in " +
                           input);
}

static Expected<std::array<uint32_t, 3>> sizesOf(ArrayRef<uint32_t> numbers,
                                                 StringRef name) {
  std::array<uint32_t, 3> sizes = {1, 1, 1};
  if (numbers.size() > 3 || is_contained(numbers, 0u))
    return createStringError("--" + name + " takes one to three sizes");
  copy(numbers, sizes.begin());
  return sizes;
}

static Expected<Launch> describeLaunch(const Entry &entry) {
  Launch launch;
  auto blocks = sizesOf(grid, "grid");
  auto threads = sizesOf(block, "block");
  if (!blocks || !threads)
    return joinErrors(blocks.takeError(), threads.takeError());
  launch.grid = *blocks;
  launch.block = *threads;
  if (block.empty())
    launch.block = entry.required[0] ? entry.required
                                     : std::array<uint32_t, 3>{warpSize, 1, 1};
  launch.sharedBytes = sharedBytes;
  if (Error error = checkLaunch(entry, launch))
    return error;
  launch.order = order;
  launch.seed = seed;
  launch.limit = limit;
  return launch;
}

/// Messages of files begin with their name, the others with the tool's.
static Error runKernel() {
  auto buffer = MemoryBuffer::getFile(input);
  if (!buffer)
    return createStringError("error: " + input + ": " +
                             buffer.getError().message());
  auto module = parseModule((*buffer)->getBuffer(), input);
  if (!module)
    return module.takeError();
  auto asError = [](Error error) {
    return createStringError("error: " + toString(std::move(error)));
  };
  auto entry = chooseEntry(*module);
  if (!entry)
    return asError(entry.takeError());
  if (Error error = decode(*module, **entry))
    return error;
  auto launch = describeLaunch(**entry);
  if (!launch)
    return asError(launch.takeError());
  Device device{*module, **entry, *launch, {}, {}, {}, {}, {}, {}, 0};
  device.random.seed(launch->seed);
  placeVariables(*module, device.memory);
  Arguments arguments;
  if (Error error = arguments.read(device, texts))
    return asError(std::move(error));
  if (!device.run())
    return createStringError(device.fault);
  if (Error error = arguments.write(device, outs()))
    return asError(std::move(error));
  if (printReport)
    device.report.print(outs(), input);
  return Error::success();
}

} // namespace attn::ptx

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(attn::ptx::category);
  cl::ParseCommandLineOptions(argc, argv, "a kernel of PTX without a GPU\n");
  Error error = attn::ptx::runKernel();
  if (!error)
    return 0;
  std::string message = toString(std::move(error));
  errs() << (StringRef(message).starts_with("error: ") ? "ptxsim: " : "")
         << message << "\n";
  return 1;
}
