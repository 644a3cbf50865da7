// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line of the compiler.
#ifndef ATTN_OPT_OPTIONS_H
#define ATTN_OPT_OPTIONS_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attn::tool {

enum class Emit {
  Executable,
  Object,
  Library,
  Python,
  Lab,
  Assembly,
  LLVM,
  MLIR,
  Header,
  PTX,
  Cubin
};

struct Options {
  std::string input, output;
  std::optional<Emit> emit; ///< None: only what the other options ask for.
  std::string target, tilesOf, targetFacts, entry, ptxas;
  std::string weights; ///< A file for them; empty: they are in the object.
  bool genericOps = false, verifyEach = true;
  std::optional<int64_t> splitKeys;
  unsigned codeGenLevel = 3; ///< LLVM's, 0 to 3.
  std::string compileFrom, compileTo, dumpPhasesTo;
  bool explain = false, explainAsJson = false, time = false, listPhases = false;
  bool printTarget = false, strictImport = false;
  unsigned verify = 0; ///< Runs beside the reference.
  bool withLab = false;
  /// What the program is called with that --emit=lab makes.
  std::vector<std::string> labArguments;
  std::vector<std::pair<std::string, int64_t>> dims;
};

enum ExitStatus { Success = 0, UserError = 1, UsageError = 2, OurBug = 70 };

/// Whether the arguments ask for the compiler, and not for the pass driver.
bool asksForCompiler(int argc, char **argv);

/// Parses the command line. No options: the process ends with the status, since
/// all has been said.
std::optional<Options> parseOptions(int argc, char **argv, ExitStatus &status);

} // namespace attn::tool

#endif
