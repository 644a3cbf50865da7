# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""block.py PAGE LANGUAGE: prints the page's first block in this language."""
import re
import sys

page, language = sys.argv[1:]
with open(page) as file:
    block = re.search(rf"^```{re.escape(language)}\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
if not block:
    sys.exit(f"{page}: no block in {language}")
print(block[1], end="")
