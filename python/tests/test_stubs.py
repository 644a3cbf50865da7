# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The types that editors see are those of the package."""
import os
import pathlib
import subprocess
import sys

import pytest

import attn


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
