# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The lit suite. Run it with `cmake --build --preset dev --target check-attn`, or
# a part of it with `/usr/lib/llvm-22/bin/lit -v build/dev/test/Dialect`.
import os
import pathlib
import platform
import shutil
import subprocess
import sys

import lit.formats

config.name = "attn"
config.test_format = lit.formats.ShTest()
config.test_source_root = os.path.dirname(__file__)
config.suffixes = [".md", ".mlir", ".ptx", ".test"]
config.excludes = ["Inputs", "README.md", "data", "regressions"]

# attn-opt, attn-reference, ptxsim; FileCheck, not, split-file, mlir-opt.
config.environment["PATH"] = os.pathsep.join(
    [*filter(None, [config.test_tools]), os.path.join(config.attn_build, "bin"), config.llvm_tools, os.environ["PATH"]])


def made(name, options):
    """The folder of a program that is attn-opt with options in front."""
    program = pathlib.Path(config.test_exec_root, name, "attn-opt")
    text = f'#!/bin/bash\nexec -a attn-opt {config.attn_build}/bin/attn-opt {options} "$@"\n'
    program.parent.mkdir(exist_ok=True)
    if not program.exists() or program.read_text() != text:
        program.write_text(text)
        program.chmod(0o755)
    return str(program.parent)


def imports(python, modules):
    command = [python, "-c", f"import {modules}"]
    return os.path.exists(python) and subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0


python = config.python if imports(config.python, "numpy") else sys.executable
if imports(python, "numpy"):
    config.available_features.add("numpy")
    if config.has_onnx and imports(python, "onnx"):
        config.available_features.add("onnx")
    # For test/Lab/browser.test; scripts/test does not install them.
    if shutil.which("chromium") and imports(python, "axe_core_python, playwright.sync_api"):
        config.available_features.add("browser")
else:
    lit_config.warning("no NumPy, so value tests are left out; scripts/test installs it")

if "-fsanitize=address" in config.c_compiler:
    config.available_features.add("asan")
    # Python keeps memory until it ends; what it loads needs its sanitizer first.
    # libMLIR.so is not instrumented and does not unpoison what its allocators share with us.
    # A thread's signal stack is LLVM's, not the sanitizer's to free.
    config.environment["ASAN_OPTIONS"] = "detect_leaks=0:allow_user_poisoning=0:use_sigaltstack=0"
    python = f"env LD_PRELOAD={config.test_preload} {python}"

config.substitutions += [
    # The C compiler of this build, and what a caller of a kernel needs of ours.
    ("%cc", config.c_compiler.strip()),
    ("%include", os.path.join(config.attn_source, "include")),
    # A libcuda.so.1 that needs no GPU (test/Runtime/GPU/FakeDriver.cpp).
    ("%fake_cuda", os.path.join(config.test_exec_root, "Runtime", "GPU", "driver")),
    # What attn-opt reads off machine code (test/Target/sass-dump.cpp).
    ("%sass_dump", os.path.join(config.test_exec_root, "Target", "sass-dump")),
    ("%runtime", os.path.join(config.attn_build, "lib", "libattn-rt.a") + " -lm -lpthread"),
    ("%cmake", config.cmake),
    ("%mlir_include", config.mlir_include),
    ("%python", python),
    # For tests of what is computed, page by page: value tests are thorough with the same.
    ("%quick", os.path.join(made("quick", "-O0 --verify-each=0"), "attn-opt")),
    ("%build", config.attn_build),
    ("%source", config.attn_source),
    ("%docs", os.path.join(config.attn_source, "docs")),
    ("%examples", os.path.join(config.attn_source, "examples")),
    ("%goldens", os.path.join(config.test_source_root, "Integration", "data", "goldens")),
    ("%seeds", os.path.join(config.test_source_root, "Integration", "data", "seeds")),
]

# For rooms that look at what comes out at the end: behind every pass the verifier runs in the others.
config.released = os.pathsep.join([made("released", "--verify-each=0"), config.environment["PATH"]])
config.substitutions.append(("%released", f"env PATH={config.released}"))  # for such a test among others

# What this machine and this build can do, for REQUIRES and UNSUPPORTED.
if platform.machine() in ("x86_64", "AMD64"):
    config.available_features.add("x86")
if os.path.exists("/proc/cpuinfo"):
    with open("/proc/cpuinfo") as cpuinfo:
        flags = set(cpuinfo.read().split())
    config.available_features.update(flags & {"avx2", "avx512f"})
