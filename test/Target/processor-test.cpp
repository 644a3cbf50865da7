// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Processors by name and by features: which one a machine is taken for, and
// what schedules learn of it.
#include "attn/Target/CodeGen.h"
#include "llvm/Support/raw_ostream.h"

using namespace attn::target;
using llvm::StringRef;

static int failures = 0;

static void checkTuning(const llvm::StringMap<bool> &features, StringRef named,
                        StringRef expected) {
  std::string found = processorWith(features, named);
  if (found == expected)
    return;
  ++failures;
  llvm::errs() << "failed: " << named << " is taken for " << found
               << ", expected " << expected << "\n";
}

static void checkPairs(StringRef name, bool amx, int64_t pairChains,
                       StringRef features = "") {
  Processor processor = llvm::cantFail(findProcessor(name, features));
  if (processor.amx == amx && processor.pairChains == pairChains)
    return;
  ++failures;
  llvm::errs() << "failed: " << name << " has amx = " << processor.amx
               << ", pair chains = " << processor.pairChains << "\n";
}

int main() {
  llvm::StringMap<bool> tiles{{"avx512f", true}, {"amx-tile", true}},
      off{{"avx512f", true}, {"amx-tile", false}}, none;
  checkTuning(tiles, "rocketlake", "sapphirerapids");
  checkTuning(tiles, "generic", "sapphirerapids");
  checkTuning(tiles, "", "sapphirerapids");
  checkTuning(tiles, "sapphirerapids", "sapphirerapids");
  checkTuning(tiles, "graniterapids", "graniterapids");
  checkTuning(off, "rocketlake", "rocketlake");
  checkTuning(off, "sapphirerapids", "sapphirerapids");
  checkTuning(none, "generic", "generic");
  checkTuning(none, "neoverse-v2", "neoverse-v2");

  checkPairs("sapphirerapids", /*amx=*/true, 0);
  checkPairs("cooperlake", /*amx=*/false, 12);
  checkPairs("sapphirerapids", /*amx=*/false, 0, "-amx-tile");
  checkPairs("znver4", /*amx=*/false, 6);
  checkPairs("znver3", /*amx=*/false, 0);
  checkPairs("neoverse-v2", /*amx=*/false, 0);

  llvm::errs() << failures << " failures\n";
  return failures != 0;
}
