# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX models: a file of bytes that is no specification's text."""
import numpy as np
import pytest

import attn
import reference


def model(path, scale):
    """softmax(scale * q k^T) v as Attention, written by hand: a message is tags, lengths and bytes."""
    def field(number, data):
        assert len(data) < 128
        return bytes([number << 3 | 2, len(data)]) + data

    def tensor(name, *sizes):
        dims = b"".join(field(1, b"\x08" + bytes([n]) if isinstance(n, int) else field(2, n.encode())) for n in sizes)
        return field(1, name.encode()) + field(2, field(1, b"\x08\x01" + field(2, dims)))

    scale = field(1, b"scale") + b"\x15" + np.float32(scale).tobytes() + b"\xa0\x01\x01"
    node = b"".join(field(1, n) for n in (b"q", b"k", b"v")) + field(2, b"out") + field(4, b"Attention") + field(5, scale)
    graph = field(1, node) + field(2, b"g")
    graph += b"".join(bytes([11 << 3 | 2, len(t)]) + t for t in (tensor(n, 1, 2, s, 8) for n, s in (("q", "s"), ("k", "t"), ("v", "t"))))
    out = tensor("out", 1, 2, "s", 8)
    graph += bytes([12 << 3 | 2, len(out)]) + out
    length = bytes([len(graph) & 127 | 128, len(graph) >> 7])
    path.write_bytes(b"\x08\x0a" + b"\x3a" + length + graph + field(8, b"\x10\x17"))


@pytest.fixture
def arrays():
    rng = np.random.default_rng(0)
    return [rng.standard_normal((1, 2, n, 8)).astype(np.float32) for n in (5, 7, 7)]


def test_model(tmp_path, arrays):
    path = tmp_path / "tiny.onnx"
    model(path, 0.5)
    kernel = attn.compile(path)
    assert [a.name for a in kernel.arguments] == ["q", "k", "v"]
    np.testing.assert_allclose(kernel(*arrays), reference.attention(*arrays, scale=0.5)[0], atol=1e-5)
    assert "fused" in kernel.explain()
    assert "attn.scores" in kernel.mlir
    assert kernel.verify(2)


def test_another_model_of_the_same_name_is_another_kernel(tmp_path, arrays):
    path = tmp_path / "tiny.onnx"
    model(path, 0.5)
    attn.compile(path, "first")
    model(path, 0.25)
    np.testing.assert_allclose(attn.compile(path, "first")(*arrays), reference.attention(*arrays, scale=0.25)[0], atol=1e-5)


def test_errors_name_the_file(tmp_path):
    with pytest.raises(attn.Error, match="nowhere.onnx"):
        attn.compile(tmp_path / "nowhere.onnx")
    path = tmp_path / "broken.onnx"
    path.write_bytes(b"no model")
    with pytest.raises(attn.Error, match="broken.onnx"):
        attn.compile(path)
