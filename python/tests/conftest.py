# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import numpy as np
import pytest

import attn


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """Kernels of these tests are compiled by these tests."""
    patch = pytest.MonkeyPatch()
    patch.setenv("ATTN_CACHE", str(tmp_path_factory.mktemp("cache")))
    yield
    patch.undo()


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture(scope="session")
def plain():
    """Attention of 2 heads of 16 without a mask."""
    return attn.attention(heads=2, dim=16)
