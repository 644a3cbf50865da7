# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Lab's data and page, without a browser."""
import base64
import html
import json
import re

import numpy as np
import pytest

import attn
from attn import _lab


def arrays(rng, heads=2, queries=5, keys=5, dim=3, key_heads=None, visible=None):
    """What describe takes, of a plain attention in NumPy."""
    q = rng.standard_normal((heads, queries, dim))
    k, v = rng.standard_normal((2, key_heads or heads, keys, dim))
    group = heads // (key_heads or heads)
    raw = np.stack([q[h] @ k[h // group].T for h in range(heads)])
    masked = raw / 2 if visible is None else np.where(visible, raw / 2, -np.inf)
    weights = np.exp(masked - masked.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    out = np.stack([weights[h] @ v[h // group] for h in range(heads)])
    return {"title": "A title", "entry": "f", "query": q, "key": k, "value": v, "scores": raw, "scaled": raw / 2, "masked": masked,
            "weights": weights, "out": out, "scale": 0.5, "specification": "func.func @f"}


def embedded(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


def unpacked(packed):
    numbers = np.frombuffer(base64.b64decode(packed["base64"]), "<" + packed["packed"])
    return numbers.astype(float).reshape(packed["shape"]) * packed["unit"]


def test_small(rng):
    visible = np.tri(5, dtype=bool)
    given = arrays(rng, visible=visible)
    data = _lab.describe(**given, queries="abcde", keys="abcde")
    assert data["tokens"] == {"queries": list("abcde"), "keys": list("abcde")}
    assert (data["heads"], data["dim"], data["value_dim"], data["pooled"]) == (2, 3, 3, None)
    assert data["mask"] == [visible.astype(int).tolist()] and data["masked"] is None
    for name in ("query", "key", "value", "scores", "scaled", "weights", "out"):
        np.testing.assert_allclose(data[name], given[name], rtol=5e-6)
    page = embedded(_lab.render(data))
    assert page["weights"] == data["weights"]
    assert page["mask"] == [["10000", "11000", "11100", "11110", "11111"]]


def test_scores_that_a_function_changed(rng):
    given = arrays(rng, visible=np.tri(5, dtype=bool))
    given["masked"] = given["masked"] * 2
    data = _lab.describe(**given)
    assert data["masked"][0][0][1] is None and data["masked"][0][1][0] == pytest.approx(given["scaled"][0, 1, 0] * 2, rel=1e-5)


def test_heads_that_see_different_pairs(rng):
    visible = np.stack([np.tri(5, dtype=bool), np.ones((5, 5), bool)])
    data = _lab.describe(**arrays(rng, visible=visible))
    assert data["mask"] == visible.astype(int).tolist()
    assert _lab.describe(**arrays(rng))["mask"] is None


def test_numbers_that_json_lacks(rng):
    given = arrays(rng)
    given["out"][0, 0] = np.nan, np.inf, -np.inf
    page = embedded(_lab.render(_lab.describe(**given)))
    assert page["out"][0][0] == ["NaN", "Infinity", None]


def test_shared_keys(rng):
    data = _lab.describe(**arrays(rng, heads=4, key_heads=2))
    assert len(data["key"]) == 2 and len(data["weights"]) == 4
    _lab.render(data)


def test_page_cannot_be_broken_out_of(rng):
    evil = "</script><script>alert(1)</script><!--&amp;\u2028{{script}}"
    data = _lab.describe(**{**arrays(rng), "title": evil, "specification": evil}, queries=[evil] * 5)
    page = _lab.render(data)
    assert "alert(1)</script>" not in page and page.count("<script") == 2 and page.count("</script>") == 2
    assert embedded(page)["title"] == evil and embedded(page)["tokens"]["queries"] == [evil] * 5
    assert f"<title>{html.escape(evil)}</title>" in page


def test_page_asks_for_nothing(rng):
    page = _lab.render(_lab.describe(**arrays(rng)))
    assert not re.search(r'(?:src|href)\s*=|url\(|@import|fetch\(|import\(', page)
    assert "default-src 'none'" in page and "{{" not in page
    # The only address is a name: that of SVG.
    assert set(re.findall(r"https?://[^\"\s]+", page)) == {"http://www.w3.org/2000/svg"}


def test_64_tokens_of_8_heads(rng):
    given = arrays(rng, heads=8, queries=64, keys=64, dim=64, visible=np.tri(64, dtype=bool))
    page = _lab.render(_lab.describe(**given))
    assert len(page.encode()) < 400_000
    data = embedded(page)
    np.testing.assert_allclose(unpacked(data["weights"]), given["weights"], rtol=6e-4, atol=1e-7)
    np.testing.assert_allclose(unpacked(data["scores"]), given["scores"], rtol=6e-4, atol=1e-6)
    assert data["query"]["shape"] == [8, 64, 8] and data["dim"] == 64


@pytest.mark.parametrize("heads, key_heads, kept", [(32, 8, 4), (32, 32, 7), (32, 1, 7)])
def test_64_tokens_of_many_heads(heads, key_heads, kept, rng):
    """The first ones are shown, whole groups if one fits."""
    given = arrays(rng, heads=heads, key_heads=key_heads, queries=64, keys=64, dim=64)
    data = _lab.describe(**{**given, "masked": given["scaled"] + 1})
    assert (data["heads"], data["heads_of_all"]) == (kept, heads)
    assert len(data["key"]) == max(1, kept * key_heads // heads) and len(data["masked"]) == kept
    assert len(_lab.render(data).encode()) < 400_000


def test_pooled(rng):
    given = arrays(rng, heads=2, queries=600, keys=520, dim=16)
    data = _lab.describe(**given, chosen=[0, 300, 599])
    pooled = data["pooled"]
    assert pooled["rows"] == [0, 300, 599] and pooled["block"] == [3, 3]
    blocks = given["weights"][:, :, :519].reshape(2, 200, 3, 173, 3).max((2, 4))
    np.testing.assert_allclose(np.array(pooled["map"])[:, :, :173], blocks, rtol=1e-5)
    np.testing.assert_allclose(data["weights"], given["weights"][:, [0, 300, 599]], rtol=1e-5)
    for h in range(2):
        for r, q in enumerate(pooled["rows"]):
            best = given["weights"][h, q].argmax()
            n = pooled["keys"][h][r].index(best)
            np.testing.assert_allclose(data["value"][h][r][n], given["value"][h, best, :8], rtol=1e-5)
    page = embedded(_lab.render(data))
    np.testing.assert_allclose(unpacked(page["weights"]), given["weights"][:, [0, 300, 599]], rtol=1e-5)


def test_many_tokens_stay_small(rng):
    weights = np.broadcast_to(rng.random((2048, 2048), np.float32), (12, 2048, 2048))
    vectors = rng.standard_normal((12, 2048, 4))
    data = _lab.describe(title="t", entry="f", query=vectors, key=vectors, value=vectors, scores=weights, scaled=weights, weights=weights,
                         out=vectors, scale=1)
    assert (data["heads"], data["heads_of_all"]) == (8, 12)
    assert len(_lab.render(data).encode()) < 1_000_000


def test_tile_map():
    masked = np.where(np.tri(6, dtype=bool), 1.0, -np.inf)
    assert _lab.tile_map(masked, 2, 4, ["kt"]) == {"rows": 2, "columns": 4, "classes": [[2, 0], [2, 0], [1, 2]], "bounds": ["kt"]}
    with pytest.raises(ValueError, match="heads that see the same pairs"):
        _lab.tile_map(np.stack([masked, np.zeros((6, 6))]), 2, 2)


@pytest.mark.parametrize("change, message", [
    ({"out": np.zeros((2, 4, 3))}, "out: expected shape"),
    ({"key": np.zeros((3, 5, 3)), "value": np.zeros((3, 5, 3))}, "share keys evenly"),
    ({"queries": ["one"]}, "queries: expected 5 labels, but got 1"),
    ({"weights": np.zeros(5)}, "weights: expected"),
])
def test_wrong_arrays(rng, change, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        _lab.describe(**{**arrays(rng), **change})


@pytest.mark.parametrize("change, name", [
    ({"title": None}, "title"), ({"weights": [[[0.5]]]}, "weights"), ({"mask": [[[1]]]}, "mask"), ({"key": [[[1]]]}, "key"),
    ({"tokens": {"queries": [1]}}, "tokens"), ({"tiles": {}}, "tiles"), ({"normalization": "none"}, "normalization"),
    ({"scores": [[[1], [1, 2]]]}, "scores"),
])
def test_wrong_data(rng, change, name):
    with pytest.raises(ValueError, match=f"^{name}: "):
        _lab.render({**_lab.describe(**arrays(rng)), **change})


def test_picture(rng, tmp_path):
    picture = _lab.Picture(_lab.describe(**arrays(rng)))
    frame = picture._repr_html_()
    assert frame.startswith('<iframe sandbox="allow-scripts" title="A title"')
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', frame)[1]) == picture.html
    file = tmp_path / "page.html"
    file.write_text("old")
    picture.save(file)
    assert file.read_text(encoding="utf-8") == picture.html and list(tmp_path.iterdir()) == [file]
    with pytest.raises(OSError):
        picture.save(tmp_path / "absent" / "page.html")
    assert "A title" in repr(picture)


def test_what_a_kernel_returned(rng):
    """The numbers of a page are a kernel's own."""
    q, k, v = rng.standard_normal((3, 1, 2, 6, 8), np.float32)
    kernel = attn.attention(attn.causal(), heads=2, dim=8, returns=("out", "weights", "scores"))
    out, weights, masked = kernel(q, k, v)
    scaled = np.where(np.isinf(masked), 0, masked)
    data = _lab.describe(title="t", entry="attention", query=q, key=k, value=v, scores=scaled * 8**0.5, scaled=scaled, masked=masked,
                         weights=weights, out=out, scale=8**-0.5, specification=kernel.mlir)
    assert data["mask"] == [np.tri(6, dtype=int).tolist()]
    page = embedded(_lab.render(data))
    np.testing.assert_allclose(page["weights"], weights[0], rtol=5e-6)
    np.testing.assert_allclose(page["out"], out[0], rtol=5e-6)


@pytest.mark.parametrize("layout", ["bhsd", "bshd"])
def test_show_has_what_the_kernel_returns(rng, layout):
    """Of a batch entry, with grouped heads and a score function."""
    kernel = attn.attention(attn.causal(), heads=(2, 1), dim=8, layout=layout, score_mod=lambda s, b, h, i, j: s - 0.5 * abs(i - j))
    q, k = (rng.standard_normal((2, h, 4, 8)).astype(np.float32) for h in (2, 1))
    if layout == "bshd":
        q, k = q.transpose(0, 2, 1, 3), k.transpose(0, 2, 1, 3)
    out = kernel(q, k, k)
    data = embedded(kernel.show(q, k, k, tokens="a b c d".split(), batch=1).html)
    out = out[1] if layout == "bhsd" else out[1].swapaxes(0, 1)
    np.testing.assert_allclose(data["out"], out, rtol=1e-5, atol=1e-6)
    assert data["tokens"] == {"queries": list("abcd"), "keys": list("abcd")} and data["heads"] == 2
    first, second = np.array(data["masked"][0], float)[1, :2]
    scaled = np.array(data["scaled"])[0, 1, :2]
    np.testing.assert_allclose([first, second], [scaled[0] - 0.5, scaled[1]], rtol=1e-5)
    assert data["masked"][0][0][1] is None


def test_installed_with_its_template():
    assert {p.name for p in _lab._TEMPLATE.iterdir()} >= {"page.html", "page.css", "page.js"}
