# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Lab: one attention as a page that a reader can walk through.

`describe` makes the page's data from arrays that kernels returned, `render` the
page from the data: one HTML file that asks the network for nothing. `Picture`
shows it in a notebook and saves it.

The data is a dict that JSON can write:

    title, entry, specification   texts
    tokens                        {"queries": [..], "keys": [..]}
    heads, dim, value_dim, scale  numbers; heads_of_all counts those that are left out as well
    normalization                 "softmax" or "sigmoid"
    query, key, value             [head][token][feature]; perhaps the first features alone, and fewer heads of keys
    scores, scaled                [head][query][key]: products, and products times the scale
    masked                        the same after bias, score function and mask, with null for an excluded pair; None where
                                  the mask is all there is
    mask                          [head or one for all][query][key], 1 where the pair is visible; None where all are
    weights, out                  [head][query][key], [head][query][feature]
    tiles                         None, or {rows, columns, classes, bounds}: 0 skipped, 1 full, 2 edge
    pooled                        None, or {rows, map, block, keys} for many tokens

With `pooled`, [query] above is one of the queries `rows`, `key` and `value` are
those of the keys `keys[head][row]`, and `map[head]` has the largest weight of
each block of `block` queries and keys.
"""
import base64
import html
import json
import math
import os
import pathlib
import re
import secrets

import numpy as np

_TEMPLATE = pathlib.Path(__file__).parent / "lab"
_WHOLE = 64            # tokens up to which every pair is on the page
_FEATURES = 8          # of each vector, where all would make the page large
_FEW_NUMBERS = 16384   # what counts as large for vectors
_TEXT_NUMBERS = 20000  # from here on arrays are packed
_MOST_PAIRS = 118000   # numbers of pairs on a page with every pair: some 300 KB
_MAP_CELLS = 131072    # of all heads
_POOLED_HEADS = 8
_STRONGEST = 16
_PAIRS = ("scores", "scaled", "masked", "weights")
_VECTORS = ("query", "key", "value", "out")


def _array(name, given, rank=3):
    """(head, row, column) of an array that may lack heads or have a batch of one."""
    array = np.asarray(given)
    if array.ndim == 4 and array.shape[0] == 1:
        array = array[0]
    if array.ndim == 2:
        array = array[None]
    if array.ndim != rank:
        raise ValueError(f"{name}: expected (S, D), (H, S, D) or (1, H, S, D), but got shape {np.shape(given)}")
    return array


def entry(array, batch):
    """One entry of the batch of an array (B, H, S, D), NumPy's or torch's; others as they are. In f64."""
    array = np.asarray(array.float() if hasattr(array, "float") else array).astype(np.float64)
    if array.ndim < 4:
        return array
    if not 0 <= batch < array.shape[0]:
        raise ValueError(f"batch: expected an entry below {array.shape[0]}, but got {batch}")
    return array[batch]


def _numbers(array):
    """Nested lists of six digits; -inf is null, and what JSON cannot write is a text."""
    def number(x):
        if math.isfinite(x):
            x = float(f"{x:.6g}")
            return int(x) if x == int(x) and abs(x) < 1e6 else x
        return None if x == -math.inf else str(x).replace("inf", "Infinity").replace("nan", "NaN")

    def nested(x):
        return [nested(y) for y in x] if x.ndim > 1 else [number(y) for y in x.tolist()]
    return nested(np.asarray(array, np.float64))


def _labels(name, labels, count):
    labels = [str(n) for n in (range(count) if labels is None else labels)]
    if len(labels) != count:
        raise ValueError(f"{name}: expected {count} labels, but got {len(labels)}")
    return labels


def describe(*, title, entry, query, key, value, scores, scaled, weights, out, scale, masked=None, queries=None, keys=None, tiles=None,
             specification="", normalization="softmax", chosen=None):
    """The data of a page, from arrays that a kernel took and returned.

    Arrays are (S, D), (H, S, D) or of a batch of one; `key` and `value` may have
    fewer heads, as in GQA. `scores`, `scaled` and `masked` are the scores at the
    stages raw, scaled and masked; -inf in `masked` excludes a pair. `queries` and
    `keys` are the tokens' labels. `tiles` is what `tile_map` returns. With more
    than 64 tokens the page has a map of the largest weights, and the rows of the
    queries `chosen`."""
    a = {"query": query, "key": key, "value": value, "scores": scores, "scaled": scaled, "weights": weights, "out": out}
    a["masked"] = scaled if masked is None else masked
    a = {name: _array(name, array) for name, array in a.items()}
    heads, length = a["query"].shape[:2]
    key_length = a["key"].shape[1]
    _check_arrays(a, heads, length, key_length)
    data = {"title": title, "entry": entry, "specification": specification, "normalization": normalization,
            "tokens": {"queries": _labels("queries", queries, length), "keys": _labels("keys", keys, key_length)},
            "heads": heads, "heads_of_all": heads, "dim": a["query"].shape[-1], "value_dim": a["value"].shape[-1], "scale": float(scale),
            "tiles": tiles, "pooled": None, "masked": None}
    if max(length, key_length) > _WHOLE:
        _pool(data, a, chosen)
    else:
        _keep_heads(data, a)
    if not data["pooled"] and sum(a[n].size for n in _VECTORS) > _FEW_NUMBERS:
        a.update((n, a[n][..., :_FEATURES]) for n in _VECTORS)
    mask = a["masked"] != -np.inf
    if not _is_changed(a):
        del a["masked"]
    data.update((name, _numbers(array)) for name, array in a.items())
    if (mask == mask[:1]).all():
        mask = mask[:1]
    data["mask"] = None if mask.all() else mask.astype(int).tolist()
    return data


def _check_arrays(a, heads, length, key_length):
    pairs = (heads, length, key_length)
    wanted = {"query": (heads, length, a["query"].shape[-1]), **dict.fromkeys(_PAIRS, pairs),
              "key": (a["key"].shape[0], key_length, a["query"].shape[-1]),
              "value": (a["key"].shape[0], key_length, a["value"].shape[-1]), "out": (heads, length, a["value"].shape[-1])}
    for name, shape in wanted.items():
        if a[name].shape != shape:
            raise ValueError(f"{name}: expected shape {shape}, but got {a[name].shape}")
    if 0 in pairs or heads % a["key"].shape[0]:
        raise ValueError(f"expected queries, keys, and heads that share keys evenly, but got {heads}, {length}, {key_length} and "
                         f"{a['key'].shape[0]} heads of keys")


def _is_changed(a):
    """Whether more than an exclusion stands between scaled and masked scores."""
    return not np.array_equal(np.where(a["masked"] != -np.inf, a["scaled"], -np.inf), a["masked"], equal_nan=True)


def _keep_heads(data, a):
    """The first heads, whole groups of those that share keys, where all would make the page large."""
    heads, length, key_length = a["scores"].shape
    group = heads // a["key"].shape[0]
    kept = min(heads, max(1, _MOST_PAIRS // ((3 + _is_changed(a)) * length * key_length)))
    kept = kept // group * group or kept
    for name in ("query", "out", *_PAIRS):
        a[name] = a[name][:kept]
    for name in ("key", "value"):
        a[name] = a[name][:-(-kept // group)]
    data["heads"] = kept


def _pool(data, a, chosen):
    """Replaces the arrays of many tokens by a map and some rows."""
    heads, length, key_length = a["weights"].shape
    kept = min(heads, _POOLED_HEADS)
    cells = min(256, math.isqrt(_MAP_CELLS // kept))
    blocks = [-(-n // cells) for n in (length, key_length)]
    starts = [np.arange(0, n, b) for n, b in zip((length, key_length), blocks)]
    pooled = np.stack([np.maximum.reduceat(np.maximum.reduceat(w, starts[0], axis=0), starts[1], axis=1) for w in a["weights"][:kept]])
    if chosen is None:
        count = min(length, max(2, 16 // kept))
        chosen = np.linspace(0, length - 1, count).astype(int)
    rows = np.unique(np.asarray(chosen, int))
    if not rows.size or rows[0] < 0 or rows[-1] >= length:
        raise ValueError(f"chosen: expected queries from 0 to {length - 1}, but got {list(chosen)}")
    for name in ("query", "out", *_PAIRS):
        a[name] = a[name][:kept, rows]
    strongest = np.sort(np.argsort(-a["weights"], axis=2, kind="stable")[..., :_STRONGEST], axis=2)
    for name in ("key", "value"):
        group = heads // a[name].shape[0]
        a[name] = np.stack([a[name][h // group][strongest[h]] for h in range(kept)])  # (head, row, key, feature)
    a.update((n, a[n][..., :_FEATURES]) for n in _VECTORS)
    data["heads"] = kept
    data["pooled"] = {"rows": rows.tolist(), "block": blocks, "keys": strongest.tolist(), "map": _numbers(pooled)}


def tile_map(masked, rows, columns, bounds=()):
    """The classes of tiles of `rows` queries and `columns` keys, from the scores
    behind the mask: of one head, or of all where they agree."""
    visible = _array("masked", masked) != -np.inf
    if (visible != visible[:1]).any():
        raise ValueError("masked: expected heads that see the same pairs; give one head")
    classes = [[_class(visible[0, q:q + rows, k:k + columns]) for k in range(0, visible.shape[2], columns)]
               for q in range(0, visible.shape[1], rows)]
    return {"rows": rows, "columns": columns, "classes": classes, "bounds": list(bounds)}


def _class(tile):
    return 1 if tile.all() else 2 if tile.any() else 0


def _shape(name, nested):
    shape, level = [], nested
    while isinstance(level, list):
        shape.append(len(level))
        level = level[0] if level else None

    def even(x, sizes):
        if not sizes:
            return not isinstance(x, list)
        return isinstance(x, list) and len(x) == sizes[0] and all(even(y, sizes[1:]) for y in x)
    if not even(nested, shape):
        raise ValueError(f"{name}: expected lists of even lengths")
    return shape


_FIELDS = {"title": str, "entry": str, "specification": str, "normalization": str, "tokens": dict, "heads": int, "dim": int,
           "value_dim": int, "scale": (int, float), "query": list, "key": list, "value": list,
           "scores": list, "scaled": list, "weights": list, "out": list}


def _validate(data):
    """Refuses what the page could not show, by the field's name."""
    for name, kind in _FIELDS.items():
        if not isinstance(data.get(name), kind):
            raise ValueError(f"{name}: expected {getattr(kind, '__name__', 'a number')}, but got {data.get(name)!r:.40}")
    if data["normalization"] not in ("softmax", "sigmoid"):
        raise ValueError(f"normalization: expected softmax or sigmoid, but got {data['normalization']!r}")
    for name in ("queries", "keys"):
        if not all(isinstance(t, str) for t in data["tokens"].get(name) or [None]):
            raise ValueError(f"tokens: expected a list of texts {name!r}")
    pooled = data.get("pooled")
    rows = len(pooled["rows"]) if pooled else len(data["tokens"]["queries"])
    pairs = [data["heads"], rows, len(data["tokens"]["keys"])]
    for name in _PAIRS:
        if data.get(name) is not None and _shape(name, data[name]) != pairs:
            raise ValueError(f"{name}: expected shape {pairs}, but got {_shape(name, data[name])}")
    mask = data.get("mask")
    if mask is not None and _shape("mask", mask) not in (pairs, [1, *pairs[1:]]):
        raise ValueError(f"mask: expected shape {pairs}, but got {_shape('mask', mask)}")
    for name in ("query", "out"):
        if _shape(name, data[name])[:2] != pairs[:2]:
            raise ValueError(f"{name}: expected shape {pairs[:2]} and features, but got {_shape(name, data[name])}")
    for name in ("key", "value"):
        shape, wanted = _shape(name, data[name]), pairs[:2] if pooled else pairs[2:]
        if shape[1 - bool(pooled):][:len(wanted)] != wanted or data["heads"] % shape[0]:
            raise ValueError(f"{name}: expected a vector for each key, but got shape {shape}")
    tiles = data.get("tiles")
    if tiles is not None and not {"rows", "columns", "classes", "bounds"} <= set(tiles):
        raise ValueError("tiles: expected rows, columns, classes and bounds")


def _pack(nested, kind):
    """An array as base64 of little-endian numbers: f2, in units that keep it in range, or f4."""
    array = np.array(nested, dtype=object)
    array[array == None] = -np.inf  # noqa: E711 (element by element)
    array = array.astype(np.float64)
    largest = np.abs(array[np.isfinite(array)]).max(initial=0)
    unit = 2.0 ** (math.frexp(largest)[1] - 1) if kind == "f2" and largest else 1.0
    packed = base64.b64encode((array / unit).astype("<" + kind).tobytes()).decode()
    return {"packed": kind, "shape": list(array.shape), "unit": unit, "base64": packed}


def _compact(data):
    """The same data in fewer characters; page.js reads both forms."""
    data = dict(data)
    pooled = data.get("pooled")
    if data.get("mask") is not None:
        data["mask"] = [["".join(map(str, row)) for row in head] for head in data["mask"]]
    names = [n for n in (*_PAIRS, *_VECTORS) if data.get(n) is not None]
    count = sum(math.prod(_shape(n, data[n])) for n in names)
    if pooled or count > _TEXT_NUMBERS:
        data.update((n, _pack(data[n], "f4" if pooled else "f2")) for n in names)
    if pooled:
        data["pooled"] = {**pooled, "map": _pack(pooled["map"], "f2")}
    return data


def render(data):
    """The page of `data`, one HTML text."""
    _validate(data)
    text = json.dumps(_compact(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # No token may end the script element that holds the data.
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    parts = {"title": html.escape(data["title"]), "data": text}
    for name, file in (("style", "page.css"), ("script", "page.js")):
        parts[name] = (_TEMPLATE / file).read_text(encoding="utf-8")
    page = (_TEMPLATE / "page.html").read_text(encoding="utf-8")
    return re.sub(r"{{(\w+)}}", lambda match: parts[match[1]], page)


class Picture:
    """A page. A notebook shows it; `save` writes it to a file."""

    def __init__(self, data, height=900):
        self.title = data["title"]
        self.html = render(data)
        self.height = height

    def _repr_html_(self):
        # The sandbox gives scripts no access to the notebook.
        return (f'<iframe sandbox="allow-scripts" title="{html.escape(self.title)}" style="width:100%;height:{self.height}px;border:0" '
                f'srcdoc="{html.escape(self.html)}"></iframe>')

    def __repr__(self):
        return f"<Picture {self.title!r}, {len(self.html) // 1024} KiB>"

    def save(self, path):
        """Writes the page: all of it, or nothing."""
        path = pathlib.Path(path)
        beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        try:
            beside.write_text(self.html, encoding="utf-8")
            os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)


__all__ = ["Picture", "describe", "entry", "render", "tile_map"]
