# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled function that also knows its compiler: `attn.Kernel`."""
import hashlib
import os
import pathlib
import re
import shutil

from . import _call, _driver, _steps
from ._call import Error

_WEIGHT = re.compile(r'attn\.weight\s+"(?:[^"\\]|\\.)*"\s+from\s+"((?:[^"\\]|\\.)*)"')
_FUNCTION = re.compile(r"^\s*func\.func\s+(?:public\s+)?@([\w$.]+)", re.MULTILINE)


class Kernel(_call.Kernel):
    __doc__ = _call.Kernel.__doc__

    _file = None  # the file of a model, or of a specification that reads weights beside it: the text alone does not say all

    def __reduce__(self):
        """Compiled again where it is unpickled, which its cache makes short."""
        return _compiled, (self._file or self.mlir, self.name, self.info["target"])

    def _source(self, *arguments):
        """What attn-opt reads, and what it gets as standard input."""
        common = [f"--entry={self.name}", f"--target={self.info['target']}", *arguments]
        return ([self._file, *common], None) if self._file else (["-", *common], self.mlir)

    @property
    def mlir(self):
        """The specification, in the language of docs/Spec.md; what a model was read as."""
        if self._file:
            return _driver.run([self._file, f"--entry={self.name}", "--compile-to=input"], what="reading")
        return super().mlir

    def explain(self, **sizes):
        """What was fused, which tiles are skipped, and the sizes chosen, as
        attn-opt says it; with sizes, such as `q2=1024`, also how many."""
        dims = [f"--dim={name}={size}" for name, size in sizes.items()]
        return _driver.run(*self._source("--explain", *dims, "--emit=header", "-o", os.devnull), "explaining")

    def verify(self, runs=8, **sizes):
        """Runs the kernel on random inputs beside the f64 reference, and returns
        the largest errors as attn-opt says them. Raises Error where one is
        beyond its tolerance. `sizes`, such as `q2=16`, are given ones."""
        dims = [f"--dim={name}={size}" for name, size in sizes.items()]
        return _driver.run(*self._source(f"--verify={runs}", *dims), "verifying")

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


def _compiled(source, name, target):
    return compile(source, name, target=target)


def _contents(path):
    """What a model's library depends on: its bytes, and the files beside it, among which its external data are."""
    folder = pathlib.Path(path).resolve().parent
    beside = sorted((str(p), p.stat().st_size, p.stat().st_mtime_ns) for p in folder.iterdir() if p.is_file() and p.suffix not in (".onnx", ".py"))
    return repr((hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest(), beside))


def _weights(text, file):
    """The files of weights that a specification reads, and what says that one is another than before."""
    folder = pathlib.Path("." if file == "-" else file).resolve()
    folder = folder if file == "-" else folder.parent
    found = []
    for name in sorted(set(_WEIGHT.findall(text))):
        path = folder / name
        state = path.stat() if path.exists() else None
        found.append((str(path), state and (state.st_size, state.st_mtime_ns)))
    return found


def _compile_model(file, name, target):
    try:
        contents = _contents(file)
    except OSError as error:
        raise Error(f"cannot read {file!r}: {error.strerror}") from None
    name = name or "model"
    kernel = _driver.load(Kernel, contents, name, [f"--target={target}", f"--entry={name}"], file)
    kernel._file = os.path.abspath(file)
    return kernel


def compile(source, name=None, *, target="native"):
    """Compiles a specification: the name of a file, or its text (what has a
    line break, or begins with `func.func`), or the name of an ONNX model.
    `name` chooses among several functions, or names that of a model. Returns
    a Kernel; an unchanged specification comes from a cache.

    Raises Error with the compiler's message, which names the place."""
    is_text = isinstance(source, str) and ("\n" in source or "func.func" in source)
    if is_text:
        text, file = source, "-"
    else:
        file = os.fspath(source)
        if file.endswith(".onnx"):
            return _compile_model(file, name, target)
        try:
            text = pathlib.Path(file).read_text(encoding="utf-8")
        except OSError as error:
            raise Error(f"cannot read {file!r}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise Error(f"{file!r} is no text (the name of an ONNX model ends in '.onnx')") from None
    names = _FUNCTION.findall(text) or _FUNCTION.findall(_driver.run(["-", "--compile-to=input"], text))
    if name is None and len(names) > 1:
        raise Error(f"the specification has several functions; choose with name=: {', '.join(names)}")
    name = name or (names[0] if names else "main")
    arguments = [f"--target={target}", f"--entry={name}"] if len(names) > 1 else [f"--target={target}"]
    weights = _weights(text, file)
    kernel = _driver.load(Kernel, text, name, arguments, file, repr(weights) if weights else "")
    if weights and file != "-":
        kernel._file = os.path.abspath(file)
    return kernel
