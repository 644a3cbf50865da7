# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads what --explain says, and fails where buffers that share bytes take above 1.5 times the largest two of one time."""
import re
import sys

SHARE = re.compile(r"(\d+) buffers between loops share (\d+) bytes.*; the largest two that are needed at one time take (\d+)")
found = [tuple(map(int, numbers)) for numbers in SHARE.findall(sys.stdin.read())]
if not found:
    sys.exit("no buffers share bytes")
for buffers, together, two in found:
    if together > 1.5 * two:
        sys.exit(f"{buffers} buffers share {together} bytes, the largest two take {two}")
    print(f"{buffers} buffers: {together / two:.2f}")
