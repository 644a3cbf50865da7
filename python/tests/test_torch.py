# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch: tensors, operators, its sdpa, torch.compile. Left out without torch."""
from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np
import pytest

import attn
from reference import attention as reference

torch = pytest.importorskip("torch")
import torch.utils.checkpoint  # noqa: E402

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


def test_memory_of_large_results_serves_again(plain):
    q, k = make(1, 2, 4090, 16), make(1, 2, 4, 16)
    out = plain(q, k, k)
    first, want, view = out.data_ptr(), out.clone(), out[0, 1].numpy()
    del out
    assert plain(-q, k, k).data_ptr() != first and np.array_equal(view, want[0, 1])
    del view
    out = plain(q, k, k)
    assert out.data_ptr() == first and torch.equal(out, want) and not out.requires_grad


def test_strides_and_wrong_tensors(plain):
    x = make(1, 9, 2, 16).transpose(1, 2)
    assert torch.equal(plain(x, x, x), plain(*(x.contiguous(),) * 3))
    with pytest.raises(TypeError, match="k: expected f32, but got f64"):
        plain(x, x.double(), x)
    with pytest.raises(ValueError, match="v: is in the memory of the device meta"):
        plain(x, x, x.to("meta"))
    with pytest.raises(ValueError, match="out: shares memory with q"):
        plain(x, x, x, out=x)


def test_a_kernel_records_no_gradients(plain):
    x = make(1, 2, 9, 16).requires_grad_()
    with pytest.raises(TypeError, match=r"q: requires gradients, which a kernel by itself does not record; call it by attn.torch.operator"):
        plain(x, x, x)
    with torch.no_grad():
        assert not plain(x, x, x).requires_grad


@pytest.fixture(scope="module")
def learned():
    """f64, of which differences have enough digits; heads in groups, two results."""
    return attn.torch.operator(attn.attention(attn.causal(), heads=(4, 2), dim=4, value_dim=3, dtype="f64", returns=("out", "lse")))


def test_gradcheck(learned):
    shapes = (2, 4, 5, 4), (2, 2, 6, 4), (2, 2, 6, 3)
    q, k, v = (make(*s, dtype=torch.float64, seed=i).requires_grad_() for i, s in enumerate(shapes))
    assert torch.autograd.gradcheck(learned, (q, k, v))
    strided = make(2, 5, 4, 4, dtype=torch.float64).transpose(1, 2).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: learned(x, k, v)[0], strided)
    out, lse = learned(q, k, v)
    (first,) = torch.autograd.grad(out.sum(), q, create_graph=True)
    with pytest.raises(NotImplementedError, match="the gradient of a gradient has no kernel"):
        first.sum().backward()
    assert not learned(q.detach(), k.detach(), v.detach())[0].requires_grad


def test_one_result_without_residuals():
    @attn.function
    def squashed(x: attn.f64["n", 4]):
        return attn.tanh(x)

    x = make(3, 4, dtype=torch.float64).requires_grad_()
    operator = attn.torch.operator(squashed)
    torch.testing.assert_close(operator(x), x.tanh())
    assert torch.autograd.gradcheck(operator, x)


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoint(learned, reentrant):
    """Residuals that torch drops, and computes again in the backward pass."""
    q, k = make(1, 4, 3, 4, dtype=torch.float64), make(1, 2, 3, 4, dtype=torch.float64)
    for function in (lambda x: learned(x, k, k[..., :3])[0], lambda x: attn.torch.sdpa(x, k, k, enable_gqa=True)):
        x, y = q.clone().requires_grad_(), q.clone().requires_grad_()
        function(x).sum().backward()
        torch.utils.checkpoint.checkpoint(function, y, use_reentrant=reentrant).sum().backward()
        torch.testing.assert_close(y.grad, x.grad)


def test_threads_that_learn_first():
    kernel, x = attn.attention(heads=2, dim=4, dtype="f64", scale=0.4321), make(1, 2, 3, 4, dtype=torch.float64)

    def learn(_):
        y = x.clone().requires_grad_()
        return torch.autograd.grad(attn.torch.operator(kernel)(y, y, y).sum(), y)[0]

    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(learn, range(4))
    assert all(torch.equal(first, other) for other in others)


def test_only_what_requires_a_gradient_gets_one(learned):
    q, k, v = make(1, 4, 3, 4, dtype=torch.float64), make(1, 2, 3, 4, dtype=torch.float64), make(1, 2, 3, 3, dtype=torch.float64)
    k.requires_grad_()
    out, lse = learned(q, k, v)
    (out.sum() + lse.sum()).backward()
    assert q.grad is None and v.grad is None and k.grad.shape == k.shape
    x = make(1, 2, 3, 4, dtype=torch.float64).requires_grad_()
    expected = torch.logsumexp(torch.where(torch.ones(3, 3).tril().bool(), q @ x.repeat_interleave(2, 1).mT / 2, -torch.inf), -1)
    (want,) = torch.autograd.grad(expected.sum(), x)
    (got,) = torch.autograd.grad(learned(q, x, v)[1].sum(), x)
    torch.testing.assert_close(got, want)


@pytest.mark.parametrize("dtype, most", [(torch.float32, 3e-6), (torch.bfloat16, 3e-2)])
def test_backward_of_sdpa(dtype, most):
    """Against torch's own in f64, with tokens in front of heads in memory."""
    data = [make(2, 9, 4, 16, dtype=dtype, seed=i) for i in range(3)]
    mine, theirs = ([x.to(t).transpose(1, 2).requires_grad_() for x in data] for t in (dtype, torch.float64))
    cotangent = make(2, 4, 9, 16, dtype=dtype, seed=4)
    attn.torch.sdpa(*mine, is_causal=True).backward(cotangent)
    F.scaled_dot_product_attention(*theirs, is_causal=True).backward(cotangent.double())
    for a, b in zip(mine, theirs):
        assert a.grad.dtype == dtype
        torch.testing.assert_close(a.grad.double(), b.grad, atol=most, rtol=most)


def test_compile_trains():
    window = attn.torch.operator(attn.attention(attn.window(3, 0), heads=4, dim=16))

    def loss(x, w):
        y = window(x @ w, x, x)
        return (attn.torch.sdpa(y, x, x, is_causal=True) ** 2).sum()

    x, w = make(2, 4, 9, 16), make(16, 16, seed=1).requires_grad_()
    (want,) = torch.autograd.grad(loss(x, w), w)
    compiled = torch.compile(loss, backend="aot_eager", fullgraph=True)
    (got,) = torch.autograd.grad(compiled(x, w), w)
    torch.testing.assert_close(got, want)


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
    (dict(dropout_p=1.0), "dropout_p: expected a probability of at least 0 and below 1"),
    (dict(attn_mask=torch.ones(9, 9, dtype=torch.bool), is_causal=True), "allows one of them"),
    (dict(key=make(4, 9, 16)), "same number of dimensions"),
    (dict(value=[1]), "value: expected a tensor, but got list"),
    (dict(attn_mask=torch.ones(9, 9, dtype=torch.int32)), "attn_mask: expected truth values or floats, but got torch.int32"),
    (dict.fromkeys(("query", "key", "value"), make(1, 1, 2, 9, 16)), "number of dimensions, 2 to 4, but got 5"),
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


def test_sizes_that_are_computed_are_symbols_of_torch_compile():
    @attn.function
    def step(x: attn.f32["b", 4, "s", 8], past: attn.f32["b", 4, "p", 8]):
        keys = attn.concat([past, x], axis=2)
        return attn.context(attn.softmax(attn.scores(x, keys) * 0.3), keys)[:, :, 1:], keys

    operator = attn.torch.operator(step)
    compiled = torch.compile(lambda x, past: operator(x, past)[0] * 2, backend="aot_eager", fullgraph=True, dynamic=True)
    for s, p in ((5, 3), (7, 2)):
        x, past = make(1, 4, s, 8), make(1, 4, p, 8, seed=1)
        keys = torch.cat([past, x], 2)
        torch.testing.assert_close(compiled(x, past), F.scaled_dot_product_attention(x, keys, keys, scale=0.3)[:, :, 1:] * 2)


def test_forward_mode_is_refused():
    """Whose tangents autograd would take for 0."""
    q = make(1, 2, 5, 8)
    operator = attn.torch.operator(attn.attention(heads=2, dim=8))
    for function in (lambda x: attn.torch.sdpa(x, q, q), lambda x: operator(x, q, q)):
        for transform in (lambda f: torch.func.jvp(f, (q,), (q,)), lambda f: torch.func.jacfwd(f)(q)):
            with pytest.raises(NotImplementedError, match="forward mode"):
                transform(function)


def test_transforms_of_functions():
    """torch.func: gradients, several cotangents at once, and a gradient per sample, of both forms; a second gradient is refused."""
    q, k, v = torch.randn(3, 4, 5, 8), torch.randn(3, 2, 5, 8), torch.randn(3, 2, 5, 8)
    heads = attn.torch.operator(attn.attention(attn.causal(), heads=(4, 2), dim=8))

    def loss(attention):
        return lambda *tensors: attention(*tensors).square().sum()

    theirs = loss(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True))
    for f in (loss(lambda q, k, v: attn.torch.sdpa(q, k, v, is_causal=True, enable_gqa=True)), loss(heads)):
        for ours, expected in zip(torch.func.grad(f, (0, 1, 2))(q, k, v), torch.func.grad(theirs, (0, 1, 2))(q, k, v)):
            torch.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(torch.func.jacrev(f, 1)(q, k, v), torch.func.grad(theirs, 1)(q, k, v), rtol=1e-4, atol=1e-4)
        with pytest.raises(NotImplementedError, match="gradient of a gradient"):
            torch.func.grad(lambda x: torch.func.grad(f)(x, k, v).sum())(q)
    f = loss(lambda q, k, v: attn.torch.sdpa(q, k, v, is_causal=True, enable_gqa=True))
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(f))(q, k, v), torch.func.grad(theirs)(q, k, v), rtol=1e-4, atol=1e-4)


def test_autocast():
    """As PyTorch's own: what is not of its type is cast, and gradients have the type of their tensor."""
    q, k = torch.randn(2, 5, 8, requires_grad=True), torch.randn(2, 5, 8)
    with torch.autocast("cpu", torch.bfloat16):
        out = attn.torch.sdpa(q, k, k.bfloat16())
        torch.testing.assert_close(out, F.scaled_dot_product_attention(q, k, k.bfloat16()), rtol=2e-2, atol=2e-2)
        assert out.dtype == torch.bfloat16
        assert attn.torch.sdpa(q.double(), k.double(), k.double()).dtype == torch.float64
    out.sum().backward()
    assert q.grad.dtype == torch.float32


def test_optional_arguments_and_sizes_that_are_computed_learn():
    text = """func.func @f(%x: tensor<?x4xf64>, %b: tensor<?x4xf64> {attn.optional}) -> tensor<?x4xf64> {
  %y = math.tanh %x : tensor<?x4xf64>
  %z = arith.addf %y, %b : tensor<?x4xf64>
  return %z : tensor<?x4xf64>
}"""
    operator = attn.torch.operator(attn.compile(text))
    x, b = make(3, 4, dtype=torch.float64).requires_grad_(), make(3, 4, dtype=torch.float64, seed=1)
    for given in ((x, b), (x, None), (x,)):
        x.grad = None
        operator(*given).sum().backward()
        torch.testing.assert_close(x.grad, 1 - x.detach().tanh() ** 2)

    @attn.function
    def step(x: attn.f64["b", 4, "s", 8], past: attn.f64["b", 4, "p", 8]):
        keys = attn.concat([past, x], axis=2)
        return attn.context(attn.softmax(attn.scores(x, keys) * 0.3), keys), keys

    x, past = make(1, 4, 5, 8, dtype=torch.float64).requires_grad_(), make(1, 4, 3, 8, dtype=torch.float64, seed=1)
    found = torch.autograd.grad(attn.torch.operator(step)(x, past)[0].sum(), x)[0]
    keys = torch.cat([past, x], 2)
    torch.testing.assert_close(found, torch.autograd.grad(F.scaled_dot_product_attention(x, keys, keys, scale=0.3).sum(), x)[0])


def test_tracers_see_an_operator():
    """Of make_fx, whose graph is run on other tensors, and of vmap."""
    from torch.fx.experimental.proxy_tensor import make_fx
    x, y = make(2, 2, 6, 8), make(2, 2, 6, 8, seed=1)
    wanted = F.scaled_dot_product_attention(y, y, y)
    torch.testing.assert_close(make_fx(lambda t: attn.torch.sdpa(t, t, t))(x)(y), wanted)
    torch.testing.assert_close(torch.vmap(lambda t: attn.torch.sdpa(t, t, t))(torch.stack([x, y]))[1], wanted)


def test_operators_pass_torchs_own_check():
    kernel = attn.torch.operator(attn.attention(heads=4, dim=16))
    assert kernel(make(1, 4, 3, 16), make(1, 4, 5, 16), make(1, 4, 5, 16)).shape == (1, 4, 3, 16)
    x = make(1, 4, 3, 16)
    torch.library.opcheck(torch.ops.attn.sdpa.default, (x, x, x, None, None, True, None, 0.0), test_utils=("test_schema", "test_faketensor"))


@attn.function
def scaled(x: attn.f32["n", 4], factor: attn.f32[()]):
    return x * factor


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.operator, self.factor = attn.torch.operator(scaled), torch.nn.Parameter(torch.full((), 3.0))

    def forward(self, x):
        return self.operator(x, self.factor)


def test_operators_are_saved_and_take_numbers(tmp_path):
    x = make(3, 4)
    torch.testing.assert_close(attn.torch.operator(scaled)(x, 2), 2 * x)
    with pytest.raises(TypeError, match="x: expected a tensor, but got float"):
        attn.torch.operator(scaled)(2.0, 2.0)
    torch.save(Scaled(), tmp_path / "model.pt")
    model = torch.load(tmp_path / "model.pt", weights_only=False)
    model(x).sum().backward()
    torch.testing.assert_close(model(x), 3 * x)
    torch.testing.assert_close(model.factor.grad, x.sum())


@pytest.mark.parametrize("wrong, text", [
    (lambda q: attn.torch.sdpa(q, q, q, attn_mask=torch.ones(5, 5) > 0), r"attn_mask: expected a shape that broadcasts to the scores' \(1, 2, 3, 3\), but got \(5, 5\)"),
    (lambda q: attn.torch.sdpa(q, q.double(), q), "key: expected torch.float32, as query has, but got torch.float64"),
    (lambda q: attn.torch.sdpa(q.int(), q.int(), q.int()), "query: expected floats, but got torch.int32"),
    (lambda q: attn.torch.sdpa(q[:, :1], q, q, enable_gqa=True), "query: expected heads that are a multiple of the key's 2, but got 1"),
])
def test_sdpa_names_its_arguments(wrong, text):
    with pytest.raises((TypeError, ValueError), match=text):
        wrong(make(1, 2, 3, 4))


def test_captured_arrays_of_an_operator():
    backwards, slopes = np.arange(4, dtype=np.float32)[::-1], np.arange(4).astype(ml_dtypes.bfloat16)
    kernel = attn.attention(attn.key_length(np.array([3])), heads=(4, 2), dim=16, score_mod=lambda s, b, h, i, j: s * backwards[h] + slopes[h])
    x, y = make(1, 4, 3, 16), make(1, 2, 5, 16)
    operator = attn.torch.operator(kernel)
    torch.testing.assert_close(operator(x, y, y), torch.as_tensor(kernel(x, y, y)))
    with pytest.raises(TypeError, match="v: expected a tensor, but got ndarray"):
        operator(x, y, y.numpy())
    for tensors, named in (((x, y), {}), ((x, y, y, y), {}), ((x, y, y), {"q": x}), ((x, y), {"w": y})):
        with pytest.raises(TypeError, match="attention takes q, k, v, each once, but got"):
            operator(*tensors, **named)


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


def test_dropout():
    """Weights are dropped or grow, the same for the same generator; the gradient is that of what was kept."""
    q, k, v = (make(1, 2, 6, 4, dtype=torch.float64, seed=i) for i in range(3))
    eye = torch.eye(6, dtype=torch.float64).expand(1, 2, 6, 6)

    def drop(q, k, v):
        torch.manual_seed(3)
        return attn.torch.sdpa(q, k, v, dropout_p=0.25)

    kept = drop(q, k, eye) / F.scaled_dot_product_attention(q, k, eye)
    assert set(kept.reshape(-1).round(decimals=9).tolist()) == {0.0, round(4 / 3, 9)}
    assert torch.allclose(drop(q, k, v), (kept * F.scaled_dot_product_attention(q, k, eye)) @ v)
    assert not torch.equal(drop(q, k, v), attn.torch.sdpa(q, k, v, dropout_p=0.25))
    assert torch.autograd.gradcheck(drop, tuple(x.requires_grad_() for x in (q, k, v)))
    half = torch.compile(lambda q, k, v: attn.torch.sdpa(q, k, v, dropout_p=0.5) * 2, fullgraph=True)
    half(q, k, v).sum().backward()
    assert torch.isfinite(q.grad).all()


def test_dropout_by_a_seed():
    kernel = attn.attention(dim=8, dropout=0.5)
    x = make(9, 8)
    assert torch.equal(kernel(x, x, x, np.array(5)), kernel(x, x, x, seed=np.array(5)))
    assert not torch.equal(kernel(x, x, x, np.array(5)), kernel(x, x, x, np.array(6)))
    torch.testing.assert_close(kernel(x, x, x, np.array(-1)), attn.attention(dim=8)(x, x, x))
    with pytest.raises(ValueError, match="dropout: expected a probability of at least 0 and below 1, but got 1"):
        attn.attention(dim=8, dropout=1)
