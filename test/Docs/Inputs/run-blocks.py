# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the ```python blocks of a page as one program. A comment `# -> TEXT` at
the end of a line says what the line prints."""
import contextlib
import io
import pathlib
import re
import sys

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
text = pathlib.Path(sys.argv[1]).read_text()
blocks = list(BLOCK.finditer(text))
# Empty lines keep the page's numbers.
lines = [""] * (text.count("\n") + 1)
for block in blocks:
    first = text.count("\n", 0, block.start(1))
    body = block[1].splitlines()
    lines[first:first + len(body)] = body
printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    exec(compile("\n".join(lines), sys.argv[1], "exec"), {"__name__": "__main__"})
expected = [line.split("# -> ", 1)[1].strip() for line in lines if "# -> " in line]
found = [line.strip() for line in printed.getvalue().splitlines()]
assert blocks and expected, "the page has no blocks, or none that prints"
assert found == expected, f"expected {expected}, but got {found}"
