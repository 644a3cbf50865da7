# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled function that also knows its compiler: `attn.Kernel`."""
import os
import pathlib
import re
import shutil

from . import _call, _driver, _steps
from ._call import Error

_FUNCTION = re.compile(r"^\s*func\.func\s+(?:public\s+)?@([\w$.]+)", re.MULTILINE)


class Kernel(_call.Kernel):
    __doc__ = _call.Kernel.__doc__

    def explain(self, **sizes):
        """What was fused, which tiles are skipped, and the sizes chosen, as
        attn-opt says it; with sizes, such as `q2=1024`, also how many."""
        arguments = ["-", "--explain", f"--entry={self.name}", f"--target={self.info['target']}"]
        arguments += [f"--dim={name}={size}" for name, size in sizes.items()]
        return _driver.run([*arguments, "--emit=header", "-o", os.devnull], self.mlir, "explaining")

    def verify(self, runs=8, **sizes):
        """Runs the kernel on random inputs beside the f64 reference, and returns
        the largest errors as attn-opt says them. Raises Error where one is
        beyond its tolerance. `sizes`, such as `q2=16`, are given ones."""
        arguments = ["-", f"--verify={runs}", f"--entry={self.name}", f"--target={self.info['target']}"]
        arguments += [f"--dim={name}={size}" for name, size in sizes.items()]
        return _driver.run(arguments, self.mlir, "verifying")

    def show(self, *arrays, tokens=None, keys=None, title=None, batch=0, **named):
        """A picture of one call: the weights and the five steps to them, with
        every number as kernels return it. A notebook shows it; `save(path)`
        writes the page. The specification has one attention, written in steps
        from attn.scores to attn.context. `tokens` are the labels of queries,
        and of keys unless `keys` are; `batch` is the batch entry that is shown."""
        return _steps.picture(self, compile, self._bind(arrays, named), tokens, keys, title, batch)

    def save(self, path):
        """Copies the shared library, which needs nothing but the C library."""
        shutil.copyfile(self.library, path)


def compile(source, name=None, *, target="native"):
    """Compiles a specification: the name of a file, or its text (what has a
    line break, or begins with `func.func`). `name` chooses among several
    functions. Returns a Kernel; an unchanged specification comes from a cache.

    Raises Error with the compiler's message, which names the place."""
    is_text = isinstance(source, str) and ("\n" in source or "func.func" in source)
    if is_text:
        text, file = source, "-"
    else:
        file = os.fspath(source)
        try:
            text = pathlib.Path(file).read_text(encoding="utf-8")
        except OSError as error:
            raise Error(f"cannot read {file!r}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise Error(f"{file!r} is no text") from None
    names = _FUNCTION.findall(text)
    if name is None and len(names) > 1:
        raise Error(f"the specification has several functions; choose with name=: {', '.join(names)}")
    name = name or (names[0] if names else "main")
    arguments = [f"--target={target}", f"--entry={name}"] if len(names) > 1 else [f"--target={target}"]
    return _driver.load(Kernel, text, name, arguments, file)
