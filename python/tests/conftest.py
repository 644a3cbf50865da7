# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import zlib

import numpy as np
import pytest

import attn
from attn import _driver


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """Kernels of these tests are compiled by these tests."""
    patch = pytest.MonkeyPatch()
    patch.setenv("ATTN_CACHE", str(tmp_path_factory.mktemp("cache")))
    yield
    patch.undo()


@pytest.fixture(scope="session", autouse=True)
def sample():
    """With the variable ATTN_TEST_SAMPLE=N one specification in N is optimized, and verified behind every pass."""
    make, count = _driver._make, int(os.environ.get("ATTN_TEST_SAMPLE", "1"))

    def make_by_sample(source, text, arguments, place):
        is_sample = zlib.crc32((text or str(source)).encode()) % count == 0
        make(source, text, [*arguments, *([] if is_sample else ["-O0", "--verify-each=0"])], place)

    patch = pytest.MonkeyPatch()
    patch.setattr(_driver, "_make", make_by_sample)
    yield
    patch.undo()


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture(scope="session")
def plain():
    """Attention of 2 heads of 16 without a mask."""
    return attn.attention(heads=2, dim=16)
