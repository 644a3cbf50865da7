# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler as a child process, and the cache."""
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import attn
from attn import _driver
from attn._kernel import Kernel

TEXT = """func.func @twice(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %y = arith.addf %x, %x : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
"""
SCRIPT = """
import sys, numpy as np, attn
x = np.ones((2, 4), np.float32)
assert (attn.compile(sys.argv[1])(x) == 2).all()
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(_driver, "_loaded", {})
    return tmp_path / "cache"


def right(kernel):
    x = np.ones((3, 4), np.float32)
    return (kernel(x) == 2).all()


def test_text_and_file(folder, tmp_path):
    assert right(attn.compile(TEXT))
    path = tmp_path / "twice.mlir"
    path.write_text(TEXT)
    assert right(attn.compile(path)) and attn.compile(path).mlir == TEXT


def test_second_time_runs_no_compiler(folder, monkeypatch):
    attn.compile(TEXT)
    _driver._loaded.clear()
    monkeypatch.setattr(_driver, "run", lambda *_: pytest.fail("compiled again"))
    assert right(attn.compile(TEXT))


def test_errors_are_the_compilers(folder, tmp_path):
    with pytest.raises(attn.Error, match=r"<stdin>:1:\d+: error: "):
        attn.compile("func.func @f(%x: tensor<4xf33>)\n")
    path = tmp_path / "wrong.mlir"
    path.write_text("func.func @f(%x: tensor<4xf33>)\n")
    with pytest.raises(attn.Error, match=r"wrong\.mlir:1:\d+: error: "):
        attn.compile(path)
    with pytest.raises(attn.Error, match="cannot read"):
        attn.compile(tmp_path / "missing.mlir")
    assert not list(folder.glob("*.so")) and not list(folder.glob("making-*"))


def test_functions_are_chosen_by_name(folder):
    two = TEXT + TEXT.replace("@twice", "@again")
    with pytest.raises(attn.Error, match="choose with name=: twice, again"):
        attn.compile(two)
    assert right(attn.compile(two, "again"))


@pytest.mark.parametrize("damage", [
    lambda data: b"", lambda data: data[:-1], lambda data: data[: len(data) // 2], lambda data: data[:5000] + b"x" + data[5001:]])
def test_damaged_entries_are_made_again(folder, damage):
    attn.compile(TEXT)
    _driver._loaded.clear()
    (entry,) = folder.glob("*.so")
    whole = entry.read_bytes()
    # Another file: the first one is loaded.
    (folder / "damaged").write_bytes(damage(whole))
    os.replace(folder / "damaged", entry)
    assert not _driver._is_whole(entry)
    _driver.library(TEXT, ["--target=native"])
    assert _driver._is_whole(entry) and len(entry.read_bytes()) == len(whole)


def test_two_processes_at_once(folder):
    """Both get a right kernel, and one compiles."""
    runs = [subprocess.Popen([sys.executable, "-c", SCRIPT, TEXT]) for _ in range(3)]
    assert [p.wait() for p in runs] == [0, 0, 0]
    assert len(list(folder.glob("*.so"))) == 1 and not list(folder.glob("making-*"))


@pytest.mark.parametrize("place", ["file", "below a file", "/proc/attn"])
def test_without_a_cache(folder, tmp_path, monkeypatch, place):
    """A cache that cannot be written, as in a read-only home, is none."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ATTN_CACHE", {"file": str(tmp_path / "file"), "below a file": str(tmp_path / "file" / "cache")}.get(place, place))
    assert right(attn.compile(TEXT))


def test_full_disk(folder):
    """/dev/full says that the disk is: the library goes elsewhere, or the
    error says so."""
    folder.mkdir()
    with pytest.raises(attn.Error, match="No space left|cannot write"):
        _driver.run(["-", "--emit=header", "-o", "/dev/full"], TEXT)
    assert _driver._is_out_of_space("attn-opt: error: cannot write '/x': No space left on device")


def test_compiler_that_is_not_there(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("ATTN_OPT", str(tmp_path / "missing"))
    with pytest.raises(attn.Error, match="ATTN_OPT names"):
        attn.compile(TEXT)
    monkeypatch.delenv("ATTN_OPT")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(attn.Error, match="cannot find attn-opt"):
        attn.compile(TEXT)


def test_another_compiler_is_another_entry(folder, monkeypatch, tmp_path):
    tool = pathlib.Path(_driver.find_attn_opt()).resolve()
    before = _driver._key(TEXT, [], str(tool))
    script = tmp_path / "attn-opt"
    script.write_text(f"#!/bin/sh\nexec {tool} \"$@\"\n")
    assert _driver._key(TEXT, [], str(script)) != before


def test_explain_and_save(folder, tmp_path):
    kernel = attn.compile(TEXT)
    assert "function twice" in kernel.explain(x0=8)
    kernel.save(tmp_path / "twice.so")
    assert right(Kernel(tmp_path / "twice.so"))


def test_verify(folder):
    assert "out: largest error" in attn.attention(attn.causal(), heads=2, dim=8).verify(runs=2)
    lost = attn.compile("""func.func @lost(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
      %large = arith.constant dense<1.0e6> : tensor<8x4xf32>
      %sum = arith.addf %x, %large : tensor<8x4xf32>
      %out = arith.subf %sum, %large : tensor<8x4xf32>
      return %out : tensor<8x4xf32>
    }""")
    with pytest.raises(attn.Error, match="out differs from the reference by more than its tolerance"):
        lost.verify()


def test_weights_are_those_of_the_file(tmp_path):
    """Another file of weights is another kernel, although the text is the same; a gradient finds the file, too."""
    text = """func.func @scaled(%x: tensor<?x2xf64>) -> tensor<?x2xf64> {
  %w = attn.weight "w" from "w.safetensors" : tensor<2x2xf64>
  %y = attn.project %x, %w : (tensor<?x2xf64>, tensor<2x2xf64>) -> tensor<?x2xf64>
  return %y : tensor<?x2xf64>
}
"""
    x = np.ones((3, 2))
    for folder, factor in (("one", 1.0), ("two", 2.0), ("one", 3.0)):
        (tmp_path / folder).mkdir(exist_ok=True)
        head = b'{"w":{"dtype":"F64","shape":[2,2],"data_offsets":[0,32]}}'
        head += b" " * (-len(head) % 8)
        (tmp_path / folder / "w.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + (factor * np.eye(2)).tobytes())
        (tmp_path / folder / "scaled.mlir").write_text(text)
        kernel = attn.compile(tmp_path / folder / "scaled.mlir")
        np.testing.assert_array_equal(kernel(x), factor * x)
        y, gradient = attn.value_and_grad(kernel)(x)
        np.testing.assert_array_equal(gradient(y), factor * y)
        assert "largest error" in kernel.verify(runs=1)
