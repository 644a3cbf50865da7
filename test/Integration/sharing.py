# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How well buffers share the work space, as --explain says it.

  sharing.py MOST FILE..    compiles each, and fails where one takes more than MOST times the largest two tensors of one time"""
import glob
import re
import subprocess
import sys

SHARE = re.compile(r"(\d+) buffers between loops share (\d+) bytes.*; the largest two that are needed at one time take (\d+)")


def shares(explained):
    """(buffers, bytes, bytes of the largest two of one time) of each arena."""
    return [tuple(map(int, numbers)) for numbers in SHARE.findall(explained)]


def main(most, patterns):
    files = [file for pattern in patterns for file in sorted(glob.glob(pattern))]
    found = 0
    for file in files:
        done = subprocess.run(["attn-opt", file, "--explain", "--compile-to=parallel", "-o", "/dev/null"],
                              capture_output=True, text=True, check=True)
        for buffers, together, two in shares(done.stdout):
            if together > most * two:
                sys.exit(f"{file}: {buffers} buffers share {together} bytes, the largest two take {two}")
            found = max(found, together / two)
    print(f"{len(files)} files: {found:.2f}")


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:])
