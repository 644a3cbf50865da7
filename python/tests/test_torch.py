# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch: tensors, operators, its sdpa, torch.compile. Left out without torch."""
import numpy as np
import pytest

import attn
from reference import attention as reference

torch = pytest.importorskip("torch")
import attn.torch  # noqa: E402

F = torch.nn.functional


def make(*shape, dtype=torch.float32, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_tensors_in_and_out(dtype):
    names = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16"}
    kernel = attn.attention(attn.causal(), heads=2, dim=16, dtype=names[dtype])
    x = make(1, 2, 9, 16, dtype=dtype)
    out = kernel(x, x, x)
    assert isinstance(out, torch.Tensor) and out.dtype == dtype
    expected = reference(*(x.double().numpy(),) * 3, mask_mod=lambda b, h, i, j: j <= i)[0]
    np.testing.assert_allclose(out.double().numpy(), expected, atol={torch.float64: 1e-12, torch.float32: 1e-6}.get(dtype, 2e-2))
    room = torch.empty_like(x)
    assert kernel(x, x, x, out=room) is room and torch.equal(room, out)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_constants_of_the_kernel(dtype):
    factors, x = torch.tensor([0.5, -1.75]).to(dtype), make(1, 2, 9, 16)
    out = attn.flex_attention(x, x, x, lambda s, b, h, i, j: s * attn.constant(factors)[h])
    expected = reference(*(x.double().numpy(),) * 3, lambda s, b, h, i, j: s * factors.double().numpy()[h])[0]
    np.testing.assert_allclose(out.numpy(), expected, atol=2e-6)


def test_strides_and_wrong_tensors(plain):
    x = make(1, 9, 2, 16).transpose(1, 2)
    assert torch.equal(plain(x, x, x), plain(*(x.contiguous(),) * 3))
    with pytest.raises(TypeError, match="k: expected f32, but got f64"):
        plain(x, x.double(), x)
    with pytest.raises(ValueError, match="v: is in the memory of the device meta"):
        plain(x, x, x.to("meta"))
    with pytest.raises(ValueError, match="out: shares memory with q"):
        plain(x, x, x, out=x)


def test_gradients_are_refused(plain):
    x = make(1, 2, 9, 16).requires_grad_()
    with pytest.raises(TypeError, match=r"q: requires gradients, which kernels do not compute yet; pass q\.detach\(\)"):
        plain(x, x, x)
    with pytest.raises(TypeError, match="query: requires gradients"):
        attn.torch.sdpa(x, x, x)
    with torch.no_grad():
        assert not plain(x, x, x).requires_grad


MASKS = {
    "none": lambda: None,
    "bool": lambda: make(9, 11) > -0.5,
    "bool per head": lambda: make(1, 4, 9, 11) > -0.5,
    "bool per key": lambda: make(2, 1, 1, 11) > -0.5,
    "float": lambda: make(9, 11),
    "float per batch": lambda: make(2, 1, 9, 11),
}


@pytest.mark.parametrize("name", MASKS)
def test_sdpa_masks(name):
    q, k, v, mask = make(2, 4, 9, 16), make(2, 4, 11, 16, seed=1), make(2, 4, 11, 8, seed=2), MASKS[name]()
    torch.testing.assert_close(attn.torch.sdpa(q, k, v, mask), F.scaled_dot_product_attention(q, k, v, mask), atol=2e-6, rtol=1e-5)


@pytest.mark.parametrize("shape", [(9, 16), (4, 9, 16), (2, 4, 9, 16)])
def test_sdpa_causal_scale_and_ranks(shape):
    q, k = make(*shape), make(*shape, seed=1)
    torch.testing.assert_close(attn.torch.sdpa(q, k, k, is_causal=True, scale=0.3),
                               F.scaled_dot_product_attention(q, k, k, is_causal=True, scale=0.3), atol=2e-6, rtol=1e-5)


def test_sdpa_grouped_heads():
    q, k = make(2, 4, 9, 16), make(2, 2, 9, 16, seed=1)
    torch.testing.assert_close(attn.torch.sdpa(q, k, k, enable_gqa=True), F.scaled_dot_product_attention(q, k, k, enable_gqa=True),
                               atol=2e-6, rtol=1e-5)
    with pytest.raises(ValueError, match="expected 4 heads, as query has, but got 2"):
        attn.torch.sdpa(q, k, k)


@pytest.mark.parametrize("wrong, text", [
    (dict(dropout_p=0.1), "dropout_p: kernels drop nothing"),
    (dict(attn_mask=torch.ones(9, 9, dtype=torch.bool), is_causal=True), "allows one of them"),
    (dict(key=make(4, 9, 16)), "same number of dimensions"),
    (dict(value=[1]), "value: expected a tensor, but got list"),
])
def test_wrong_sdpa(wrong, text):
    x = make(2, 4, 9, 16)
    with pytest.raises((TypeError, ValueError), match=text):
        attn.torch.sdpa(**dict(query=x, key=x, value=x) | wrong)


def test_compile_keeps_one_call():
    table = np.linspace(0, 1, 4).astype(np.float32)
    window = attn.torch.operator(attn.attention(attn.window(3, 0), heads=4, dim=16, returns=("out", "lse"),
                                                score_mod=lambda s, b, h, i, j: s + table[h]))
    graphs = []

    def backend(graph, _):
        graphs.append(graph)
        return graph.forward

    def model(x):
        out, lse = window(x * 2, x, x)
        return attn.torch.sdpa(out, x, x, is_causal=True) + lse[..., None]

    x = make(2, 4, 9, 16)
    compiled = torch.compile(model, backend=backend, fullgraph=True, dynamic=True)
    torch.testing.assert_close(compiled(x), model(x))
    assert len(graphs) == 1 and "attn.sdpa" in str(graphs[0].code) and "attention_" in str(graphs[0].code)
    y = make(2, 4, 20, 16)
    torch.testing.assert_close(compiled(y), model(y))


def test_operators_pass_torchs_own_check():
    kernel = attn.torch.operator(attn.attention(heads=4, dim=16))
    assert kernel(make(1, 4, 3, 16), make(1, 4, 5, 16), make(1, 4, 5, 16)).shape == (1, 4, 3, 16)
    x = make(1, 4, 3, 16)
    torch.library.opcheck(torch.ops.attn.sdpa.default, (x, x, x, None, True, None), test_utils=("test_schema", "test_faketensor"))


FLEX = {
    "alibi": lambda s, b, h, i, j: s + 2.0 ** -(h + 1.0) * (j - i),
    "softcap": lambda s, b, h, i, j: 20 * torch.tanh(s / 20),
    "where": lambda s, b, h, i, j: torch.where(i >= j, s, s - 2.5),
    "distance": lambda s, b, h, i, j: s - torch.abs(i - j) * 0.1,
}


@pytest.mark.parametrize("name", FLEX)
def test_functions_of_torch(name):
    """The same function by FlexAttention, not compiled, where torch has it."""
    flex = pytest.importorskip("torch.nn.attention.flex_attention").flex_attention
    q, k = make(2, 4, 32, 16), make(2, 4, 32, 16, seed=1)
    with torch.no_grad():
        expected = flex(q, k, k, score_mod=FLEX[name])
    torch.testing.assert_close(attn.flex_attention(q, k, k, FLEX[name]), expected, atol=5e-6, rtol=1e-4)
