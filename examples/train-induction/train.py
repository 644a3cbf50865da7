# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""train.py [sgd|adam] [f32|f64]: 8 letters of 16, then the same again; the next letter is to be told. Prints the loss of each step."""
import pathlib
import sys

import attn
import numpy as np

HERE = pathlib.Path(__file__).parent
rule, kind = (sys.argv[1:] + ["sgd", "f32"][len(sys.argv) - 1:])[:2]
w = {path.stem: np.load(path) for path in sorted((HERE / "data").glob("*.npy"))}  # projections: normal, of deviation sqrt(2 / 32)
letters = w.pop("tokens")
w = {name: x.astype({"f32": np.float32, "f64": np.float64}[kind]) for name, x in w.items()}
model = attn.value_and_grad(attn.compile((HERE / "model.mlir").read_text().replace("f32", kind)))
mean, square = ({name: np.zeros_like(x) for name, x in w.items()} for _ in range(2))

for step, half in enumerate(letters):
    text = np.concatenate([half, half], 1).astype(int)
    seen, answer = text[:, :-1], text[:, 1:]
    logits, gradient = model(w["embed"][seen] + w["place"], *(w[n] for n in ("wq", "wk", "wv", "wo", "out")))
    p = np.exp(logits - logits.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    right = np.eye(16, dtype=p.dtype)[answer]
    known = (np.arange(15) >= 7)[:, None] / (32 * 8)  # from its eighth letter on the next can be known
    print(f"{step} {-(np.log((p * right).sum(-1, keepdims=True)) * known).sum():.9f}")
    d = gradient(((p - right) * known).astype(p.dtype))
    slopes = {"place": d.d_x.sum(0), "embed": np.zeros_like(w["embed"]), **{n[2:]: x for n, x in d._asdict().items() if n != "d_x"}}
    np.add.at(slopes["embed"], seen, d.d_x)
    for name, x in slopes.items():
        if rule == "sgd":
            mean[name] = 0.9 * mean[name] + x
            w[name] -= 0.05 * mean[name]
        else:
            mean[name], square[name] = 0.9 * mean[name] + 0.1 * x, 0.999 * square[name] + 0.001 * x * x
            w[name] -= 0.01 * (mean[name] / (1 - 0.9 ** (step + 1))) / (np.sqrt(square[name] / (1 - 0.999 ** (step + 1))) + 1e-8)
