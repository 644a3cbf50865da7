# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run-page.py PAGE: does in this folder what a page shows. A block that begins
with the name of a file, as a comment, is that file. In a ```console block, lines
that begin with `$ ` are run, and what they print stands below them."""
import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"(?://|/\*|#) ([\w.]+)(?: \*/)?\n")
ran = 0
for language, body in BLOCK.findall(pathlib.Path(sys.argv[1]).read_text()):
    if file := NAMED.match(body):
        pathlib.Path(file[1]).write_text(body)
    if language != "console":
        continue
    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", body, re.MULTILINE):
        done = subprocess.run(["bash", "-c", command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode or done.stdout != expected:
            sys.exit(f"{sys.argv[1]}: '{command}' exits with {done.returncode} and prints\n{done.stdout}but the page says\n{expected}")
        ran += 1
sys.exit(ran == 0)
