# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of another processor, run by an emulator: as kernels.Kernel, but each call is a process of its own."""
import functools
import os
import pathlib
import platform
import subprocess
import tempfile

import elements

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent


def is_foreign(target):
    return target == "aarch64" and platform.machine() not in ("aarch64", "arm64")


@functools.cache
def runtime():
    """The folder with the runtime's and the driver's objects; it goes when the process ends."""
    folder = tempfile.TemporaryDirectory()
    room = SOURCE / "lib" / "Runtime"
    files = [*sorted(room.rglob("*.c")), HERE / "foreign.c"]
    files = [f for f in files if f.name != "Main.c"]
    made = pathlib.Path(os.environ["ATTN_OPT"]).parent.parent / "lib" / "Runtime"  # the template of pages
    for source in sorted({f.parent for f in files}):  # files of two rooms may have one name
        objects = pathlib.Path(folder.name, source.name)
        objects.mkdir()
        subprocess.run([os.environ["ATTN_FOREIGN_CC"], "-std=c11", "-O1", f"-I{SOURCE / 'include'}", f"-I{room}",
                        f"-I{made}", "-c", *(f for f in files if f.parent == source)], cwd=objects, check=True)
    return folder


class ForeignKernel:
    def __init__(self, text, folder, attn_opt, name="kernel", target="aarch64", flags=()):
        self.folder, self.text = folder, text
        self.source = os.path.join(folder, name + ".mlir")
        self.program = os.path.join(folder, name)
        kernel = os.path.join(folder, name + ".o")
        with open(self.source, "w") as f:
            f.write(text)
        subprocess.run([attn_opt, self.source, "--emit=obj", "-o", kernel, "--target=" + target, *flags], check=True)
        objects = sorted(pathlib.Path(runtime().name).rglob("*.o"))
        subprocess.run([os.environ["ATTN_FOREIGN_CC"], "-static", *objects, kernel, "-o", self.program, "-pthread",
                        "-lm"], check=True)

    def __call__(self, inputs, outputs, threads=1):
        files = []
        for i, array in enumerate([*inputs, *outputs]):
            files.append(os.path.join(self.folder, f"port{i}.npy"))
            elements.save(files[-1], array)
        command = [os.environ["ATTN_EMULATOR"], self.program, str(threads), str(len(inputs)), *files]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip() or f"{command[0]}: status {done.returncode}")
        return [elements.load(f) for f in files[len(inputs):]]
