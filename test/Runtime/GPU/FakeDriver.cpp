// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A libcuda.so.1 for tests on machines without a GPU. It has the functions that
// the runtime calls, runs kernels as ptxsim does, keeps the rules of the CUDA
// Driver API's reference, and says at the end what was not given back.
//
// Variables of the environment:
//   FAKE_CUDA_LOG=FILE        a line for every call, and what is left at the
//   end FAKE_CUDA_FAIL=NAME:N:R   the N-th call of this function returns R
//   FAKE_CUDA_DEVICES=N       default 1
//   FAKE_CUDA_CAPABILITY=80   of all devices
//   FAKE_CUDA_SHARED_KB=163   shared memory that a block can have
//   FAKE_CUDA_POOLS=0         no allocation in the order of a stream
// Cubins are of no device here, as those of another generation would be.
#include "Decoder.h"
#include "Launch.h"
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#define API extern "C" __attribute__((visibility("default"))) int

using namespace attn;

enum {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinary = 209,
  InvalidPTX = 218,
  InvalidHandle = 400,
  NotFound = 500,
  LaunchFailed = 719
};

namespace {
struct Context {
  int device;
  int references = 0;
};
struct Stream {
  Context *context;
};
/// Its time is the number of launches before it.
struct Event {
  Context *context;
  int launches = -1;
};
struct Kernels {
  Context *context;
  ptx::Module module;
};
struct Function {
  Kernels *kernels;
  ptx::Entry *entry;
  int sharedBytes = 48 << 10;
};
struct Allocation {
  Context *context;
  size_t bytes;
  bool ofPool;
};

struct Driver {
  std::recursive_mutex mutex;
  std::map<std::string, int> calls;
  std::map<int, Context> primary;
  std::map<uint64_t, Allocation> allocations;
  std::map<void *, std::unique_ptr<Kernels>> modules;
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<std::unique_ptr<Stream>> streams;
  std::map<void *, std::unique_ptr<Event>> events;
  std::set<int *> pools;
  int launches = 0;
  ptx::GlobalMemory memory;
  uint64_t next = ptx::globalWindow + 2 * ptx::windowBytes;
  bool isBroken = false; // by a kernel that failed
  FILE *log = nullptr;

  Driver() {
    if (const char *path = getenv("FAKE_CUDA_LOG"))
      log = fopen(path, "a");
  }
  ~Driver();
};
} // namespace

static Driver driver;

/// The thread's contexts. Handlers of the end use it, too: nothing destroys it.
static thread_local struct {
  Context *contexts[16];
  int depth;
  bool empty() const { return depth == 0; }
  Context *back() const { return contexts[depth - 1]; }
} current;

static int number(const char *variable, int otherwise) {
  const char *text = getenv(variable);
  return text ? atoi(text) : otherwise;
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
  if (!driver.log)
    return;
  va_list list;
  va_start(list, format);
  vfprintf(driver.log, format, list);
  va_end(list);
  fputc('\n', driver.log);
  fflush(driver.log);
}

Driver::~Driver() {
  for (auto &[address, allocation] : allocations)
    say("left: %zu bytes", allocation.bytes);
  for (auto &entry : modules)
    say("left: a module of %zu kernels", entry.second->module.entries.size());
  if (!events.empty())
    say("left: %zu events", events.size());
  if (!pools.empty())
    say("left: %zu pools", pools.size());
  for (auto &[device, context] : primary)
    if (context.references)
      say("left: the context of device %d", device);
  if (!current.empty())
    say("left: a current context");
  say("end");
}

/// Notes the call. What FAKE_CUDA_FAIL says it returns, else 0.
static int enter(const char *name) {
  int count = ++driver.calls[name];
  const char *fail = getenv("FAKE_CUDA_FAIL");
  size_t length = strlen(name);
  int at = 0, result = 0;
  if (fail && strncmp(fail, name, length) == 0 &&
      sscanf(fail + length, ":%d:%d", &at, &result) == 2 && at == count) {
    say("%s fails with %d", name, result);
    return result;
  }
  say("%s", name);
  return Success;
}

#define ENTER                                                                  \
  std::lock_guard<std::recursive_mutex> guard(driver.mutex);                   \
  if (int result = enter(__func__))                                            \
    return result;
#define NEEDS_CONTEXT                                                          \
  if (current.empty())                                                         \
    return InvalidContext;                                                     \
  if (driver.isBroken)                                                         \
    return LaunchFailed;

API cuInit(unsigned flags) {
  ENTER
  return flags                            ? InvalidValue
         : number("FAKE_CUDA_DEVICES", 1) ? Success
                                          : NoDevice;
}

API cuDeviceGetCount(int *count) {
  ENTER
  *count = number("FAKE_CUDA_DEVICES", 1);
  return Success;
}

API cuDeviceGet(int *device, int ordinal) {
  ENTER
  *device = ordinal;
  return ordinal < number("FAKE_CUDA_DEVICES", 1) ? Success : InvalidDevice;
}

API cuDeviceGetAttribute(int *value, int attribute, int device) {
  ENTER
  int capability = number("FAKE_CUDA_CAPABILITY", 80);
  *value = attribute == 75    ? capability / 10
           : attribute == 76  ? capability % 10
           : attribute == 115 ? number("FAKE_CUDA_POOLS", 1)
           : attribute == 97  ? number("FAKE_CUDA_SHARED_KB", 163) << 10
                              : 0;
  return device < number("FAKE_CUDA_DEVICES", 1) ? Success : InvalidDevice;
}

API cuDevicePrimaryCtxRetain(Context **context, int device) {
  ENTER
  Context &primary = driver.primary[device];
  primary.device = device;
  ++primary.references;
  *context = &primary;
  return Success;
}

API cuDevicePrimaryCtxRelease_v2(int device) {
  ENTER
  Context &context = driver.primary[device];
  if (context.references == 0)
    return InvalidContext;
  if (--context.references > 0)
    return Success;
  // What it has goes with it.
  for (auto it = driver.modules.begin(); it != driver.modules.end();)
    it = it->second->context == &context ? driver.modules.erase(it)
                                         : std::next(it);
  for (auto it = driver.allocations.begin(); it != driver.allocations.end();)
    if (it->second.context == &context) {
      driver.memory.remove(it->first);
      it = driver.allocations.erase(it);
    } else {
      ++it;
    }
  return Success;
}

API cuCtxGetCurrent(Context **context) {
  ENTER
  *context = current.empty() ? nullptr : current.back();
  return Success;
}

API cuCtxGetDevice(int *device) {
  ENTER
  if (current.empty())
    return InvalidContext;
  *device = current.back()->device;
  return Success;
}

API cuCtxGetId(Context *context, unsigned long long *id) {
  ENTER
  *id = 7 + context->device;
  return Success;
}

API cuCtxPushCurrent_v2(Context *context) {
  ENTER
  if (!context || !context->references || current.depth == 16)
    return InvalidContext;
  current.contexts[current.depth++] = context;
  return Success;
}

API cuCtxPopCurrent_v2(Context **context) {
  ENTER
  if (current.empty())
    return InvalidContext;
  *context = current.back();
  --current.depth;
  return Success;
}

API cuStreamCreate(Stream **stream, unsigned) {
  ENTER
  NEEDS_CONTEXT
  driver.streams.push_back(std::make_unique<Stream>(Stream{current.back()}));
  *stream = driver.streams.back().get();
  return Success;
}

static bool isStream(const Stream *stream) {
  for (const auto &known : driver.streams)
    if (known.get() == stream)
      return true;
  return false;
}

/// Of the current context: a stream's must be it.
static bool fits(const Stream *stream) {
  return !stream || (isStream(stream) && stream->context == current.back());
}

API cuStreamGetCtx(Stream *stream, Context **context) {
  ENTER
  if (!isStream(stream))
    return InvalidHandle;
  *context = stream->context;
  return Success;
}

API cuStreamSynchronize(Stream *stream) {
  ENTER
  NEEDS_CONTEXT
  return fits(stream) ? Success : InvalidHandle;
}

API cuModuleLoadDataEx(Kernels **result, const char *image, unsigned count,
                       const int *options, void **values) {
  ENTER
  NEEDS_CONTEXT
  if (strncmp(image,
              "\x7f"
              "ELF",
              4) == 0)
    return NoBinary;
  auto kernels = std::make_unique<Kernels>(Kernels{current.back(), {}});
  std::string message;
  if (llvm::Expected<ptx::Module> module = ptx::parseModule(image, "ptx"))
    kernels->module = std::move(*module);
  else
    message = llvm::toString(module.takeError());
  for (ptx::Entry &entry : kernels->module.entries)
    if (llvm::Error error = ptx::decode(kernels->module, entry))
      message = llvm::toString(std::move(error));
  if (!message.empty()) {
    for (unsigned i = 0; i + 1 < count; ++i)
      if (options[i] == 5 && options[i + 1] == 6)
        snprintf(static_cast<char *>(values[i]),
                 reinterpret_cast<size_t>(values[i + 1]), "%s",
                 message.c_str());
    return InvalidPTX;
  }
  *result = kernels.get();
  driver.modules[*result] = std::move(kernels);
  return Success;
}

API cuModuleGetFunction(Function **result, Kernels *kernels, const char *name) {
  ENTER
  NEEDS_CONTEXT
  for (ptx::Entry &entry : kernels->module.entries)
    if (entry.name == name) {
      driver.functions.push_back(
          std::make_unique<Function>(Function{kernels, &entry}));
      *result = driver.functions.back().get();
      return Success;
    }
  return NotFound;
}

API cuModuleUnload(Kernels *kernels) {
  ENTER
  return driver.modules.erase(kernels) ? Success : InvalidHandle;
}

API cuFuncSetAttribute(Function *function, int attribute, int value) {
  ENTER
  NEEDS_CONTEXT
  if (attribute != 8 || value > number("FAKE_CUDA_SHARED_KB", 163) << 10)
    return InvalidValue;
  function->sharedBytes = value;
  return Success;
}

static int run(Function *function, const ptx::Launch &launch,
               void **parameters) {
  const ptx::Module &module = function->kernels->module;
  ptx::Device device{module, *function->entry, launch, {}, {}, {}, {}, {}, {},
                     0};
  device.memory = std::move(driver.memory);
  ptx::placeVariables(module, device.memory);
  device.parameters.resize(function->entry->parameterBytes);
  size_t number = 0;
  for (const ptx::Parameter &parameter : function->entry->parameters)
    memcpy(&device.parameters[parameter.offset], parameters[number++],
           parameter.bytes);
  bool isRight = device.run();
  driver.memory = std::move(device.memory);
  driver.memory.remove(ptx::globalWindow);
  driver.memory.remove(ptx::constWindow);
  if (!isRight)
    say("fault: %s", device.fault.c_str());
  driver.isBroken |= !isRight;
  return Success; // The host hears of it when it waits.
}

API cuLaunchKernel(Function *function, unsigned gridX, unsigned gridY,
                   unsigned gridZ, unsigned blockX, unsigned blockY,
                   unsigned blockZ, unsigned sharedBytes, Stream *stream,
                   void **parameters, void **) {
  ENTER
  NEEDS_CONTEXT
  say("launch %s grid %u,%u,%u block %u,%u,%u shared %u",
      function->entry->name.c_str(), gridX, gridY, gridZ, blockX, blockY,
      blockZ, sharedBytes);
  if (function->kernels->context != current.back() || !fits(stream))
    return InvalidHandle;
  ptx::Launch launch;
  launch.grid = {gridX, gridY, gridZ};
  launch.block = {blockX, blockY, blockZ};
  launch.sharedBytes = sharedBytes;
  launch.limit = 1'000'000'000;
  bool isEmpty = gridX * gridY * gridZ * blockX * blockY * blockZ == 0;
  if (isEmpty || gridY > 65535 || gridZ > 65535 ||
      sharedBytes > unsigned(function->sharedBytes))
    return InvalidValue;
  if (llvm::Error error = ptx::checkLaunch(*function->entry, launch)) {
    say("%s", llvm::toString(std::move(error)).c_str());
    return InvalidValue;
  }
  ++driver.launches;
  return run(function, launch, parameters);
}

API cuEventCreate(Event **event, unsigned) {
  ENTER
  NEEDS_CONTEXT
  auto made = std::make_unique<Event>(Event{current.back()});
  *event = made.get();
  driver.events[*event] = std::move(made);
  return Success;
}

API cuEventRecord(Event *event, Stream *stream) {
  ENTER
  NEEDS_CONTEXT
  if (!driver.events.count(event) || event->context != current.back() ||
      !fits(stream))
    return InvalidHandle;
  event->launches = driver.launches;
  return Success;
}

API cuEventSynchronize(Event *event) {
  ENTER
  NEEDS_CONTEXT
  return driver.events.count(event) ? Success : InvalidHandle;
}

/// A quarter of a millisecond for each launch.
API cuEventElapsedTime(float *milliseconds, Event *begin, Event *end) {
  ENTER
  NEEDS_CONTEXT
  if (!driver.events.count(begin) || !driver.events.count(end) ||
      begin->launches < 0 || end->launches < 0)
    return InvalidHandle;
  *milliseconds = 0.25f * static_cast<float>(end->launches - begin->launches);
  return Success;
}

API cuEventDestroy_v2(Event *event) {
  ENTER
  return driver.events.erase(event) ? Success : InvalidHandle;
}

static int allocate(uint64_t *address, size_t bytes, bool ofPool) {
  NEEDS_CONTEXT
  if (bytes == 0)
    return InvalidValue;
  if (bytes > 1u << 30)
    return OutOfMemory;
  *address = driver.next;
  driver.next += ptx::windowBytes;
  driver.memory.addUnwritten("memory", *address, bytes);
  driver.allocations[*address] = {current.back(), bytes, ofPool};
  return Success;
}

static int release(uint64_t address, bool ofPool) {
  NEEDS_CONTEXT
  auto found = driver.allocations.find(address);
  if (found == driver.allocations.end() || found->second.ofPool != ofPool)
    return InvalidValue;
  driver.memory.remove(address);
  driver.allocations.erase(found);
  return Success;
}

API cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  ENTER
  return allocate(address, bytes, false);
}

API cuMemFree_v2(uint64_t address) {
  ENTER
  return release(address, false);
}

API cuMemPoolCreate(int **pool, const int *properties) {
  ENTER
  NEEDS_CONTEXT
  // Memory of the device, whose number is the fourth.
  if (properties[0] != 1 || properties[2] != 1 ||
      properties[3] != current.back()->device)
    return InvalidValue;
  *pool = new int(properties[3]);
  driver.pools.insert(*pool);
  return Success;
}

API cuMemPoolSetAttribute(int *pool, int attribute, const uint64_t *value) {
  ENTER
  return driver.pools.count(pool) && attribute == 4 && *value ? Success
                                                              : InvalidValue;
}

API cuMemPoolDestroy(int *pool) {
  ENTER
  if (!driver.pools.erase(pool))
    return InvalidHandle;
  delete pool;
  return Success;
}

API cuMemAllocFromPoolAsync(uint64_t *address, size_t bytes, int *pool,
                            Stream *) {
  ENTER
  return driver.pools.count(pool) ? allocate(address, bytes, true)
                                  : InvalidHandle;
}

API cuMemFreeAsync(uint64_t address, Stream *) {
  ENTER
  return release(address, true);
}

API cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes,
                         Stream *stream) {
  ENTER
  NEEDS_CONTEXT
  std::string error;
  ptx::Bytes place = driver.memory.locate(to, bytes, ptx::Access::Write, error);
  if (!place || !fits(stream))
    return InvalidValue;
  memcpy(place.data, from, bytes);
  memset(place.known, 1, bytes);
  return Success;
}

API cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes,
                         Stream *stream) {
  ENTER
  NEEDS_CONTEXT
  std::string error;
  ptx::Bytes place =
      driver.memory.locate(from, bytes, ptx::Access::Read, error);
  if (!place || !fits(stream))
    return InvalidValue;
  memcpy(to, place.data, bytes);
  if (memchr(place.known, 0, bytes))
    say("fault: a result is not written");
  return Success;
}

API cuPointerGetAttribute(void *value, int attribute, uint64_t address) {
  ENTER
  auto behind = driver.allocations.upper_bound(address);
  if (behind == driver.allocations.begin())
    return InvalidValue;
  auto &[base, allocation] = *std::prev(behind);
  if (address - base >= allocation.bytes)
    return InvalidValue;
  if (attribute == 1)
    *static_cast<Context **>(value) =
        allocation.ofPool ? nullptr : allocation.context;
  else
    *static_cast<int *>(value) =
        attribute == 2 ? 2 : allocation.context->device;
  return Success;
}

API cuGetErrorName(int, const char **text) {
  *text = "CUDA_ERROR";
  return Success;
}

API cuGetErrorString(int, const char **text) {
  *text = "a failure of the test";
  return Success;
}
