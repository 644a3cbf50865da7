# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Of made-up times, those count whose probe is at the peak, however long they took, and only if they are enough."""
import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
from machine import UNSHARED, unshared

PEAK, CALLS = 100.0, 8
slow = CALLS // 2
items = np.tile([1.0, 2.0], (CALLS, 1))
probes = np.full(items.shape, PEAK)
items[:slow] *= 3
probes[:slow] = 0.9 * PEAK
seconds, share = unshared(items, probes, PEAK)
assert (seconds, share) == (3.0, 0.5), (seconds, share)

# The probe decides, not the time: a slow item on a core of its own counts.
items[slow:, 1] = [2, 2, 8, 8]
assert unshared(items, probes, PEAK)[0] == 1.0 + 5.0

# At the limit, and just below.
probes[slow:] = UNSHARED * PEAK
assert unshared(items, probes, PEAK)[0] == 6.0
probes[slow:] = 0.999 * UNSHARED * PEAK
assert unshared(items, probes, PEAK) == (None, 0.0)

# Fewer than three of each item, or none of one.
probes[:], probes[:2] = 0, PEAK
assert unshared(items, probes, PEAK) == (None, 0.25)
probes[:, 0], probes[:, 1] = PEAK, 0
assert unshared(items, probes, PEAK) == (None, 0.5)
# Without a probe for this processor, nothing.
assert unshared(items, np.zeros_like(items), PEAK) == (None, 0.0)
