# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A notebook shows a picture as the page itself."""
import html
import json
import os
import pathlib
import subprocess
import sys

import pytest

import attn

CODE = """import attn, numpy as np
x = np.eye(3, dtype=np.float32)
attn.attention(dim=3).show(x, x, x, tokens="I am happy".split(), title="In a notebook")"""


def test_notebook(tmp_path):
    pytest.importorskip("nbconvert")
    pytest.importorskip("ipykernel")
    cell = {"cell_type": "code", "source": CODE, "metadata": {}, "outputs": [], "execution_count": None, "id": "a"}
    book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "book.ipynb").write_text(json.dumps(book))
    environment = os.environ | {"PYTHONPATH": str(pathlib.Path(attn.__file__).parent.parent), "JUPYTER_PLATFORM_DIRS": "1"}
    command = [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output", "done.ipynb", "book.ipynb"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True)
    (cell,) = json.loads((tmp_path / "done.ipynb").read_text())["cells"]
    shown = "".join(cell["outputs"][0]["data"]["text/html"])
    assert shown.startswith("<iframe sandbox") and html.escape('<script type="application/json" id="data">') in shown
    assert "In a notebook" in shown and "happy" in shown
