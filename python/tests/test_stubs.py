# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The types that editors see are those of the package."""
import ast
import os
import pathlib
import subprocess
import sys

import pytest

import attn


def test_every_name_has_a_type():
    stub = ast.parse((pathlib.Path(attn.__file__).parent / "__init__.pyi").read_text())
    typed = {getattr(node, "name", None) or node.target.id for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AnnAssign))}
    typed.update(name.asname for node in stub.body if isinstance(node, ast.ImportFrom) for name in node.names)
    assert set(attn.__all__) <= typed


def test_stubs(tmp_path):
    pytest.importorskip("mypy")
    # stubtest imports by name, and reads the stub beside what it finds.
    package = pathlib.Path(attn.__file__).parent
    assert (package / "py.typed").exists()
    environment = os.environ | {"PYTHONPATH": str(package.parent), "MYPYPATH": str(package.parent)}
    config = tmp_path / "mypy.ini"  # what has no stub is not checked
    config.write_text("[mypy]\nignore_missing_imports = True\n[mypy-attn.*]\nignore_errors = True\n")
    inner = tmp_path / "inner"
    inner.write_text("attn\\._.*\nattn\\.torch.*\n")
    command = [sys.executable, "-m", "mypy.stubtest", "attn", "--ignore-missing-stub", "--concise", "--mypy-config-file", str(config),
               "--allowlist", str(inner), "--ignore-unused-allowlist"]
    result = subprocess.run(command, env=environment, cwd=tmp_path, text=True, capture_output=True)
    assert result.returncode == 0, result.stdout + result.stderr
