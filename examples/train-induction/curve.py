# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""curve.py OUT.svg NAME=FILE ..: draws what train.py or train.c printed, a line per file."""
import pathlib
import sys

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 320, 48, 40, 16, 36
STYLE = """<style>
text { fill: #222 } .grid { stroke: #ddd } .page { fill: #fff } .c0 { stroke: #2f6fb5; fill: #2f6fb5 } .c1 { stroke: #2a9d5c; fill: #2a9d5c }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd } .grid { stroke: #444 } .page { fill: #111 } .c0 { stroke: #5b9be0; fill: #5b9be0 } .c1 { stroke: #4cc483; fill: #4cc483 }
}
polyline { fill: none !important; stroke-width: 1.5 } text { stroke: none !important }
</style>"""

curves = {name: [tuple(map(float, line.split())) for line in pathlib.Path(file).read_text().splitlines()]
          for name, file in (argument.split("=", 1) for argument in sys.argv[2:])}
steps = max(x for curve in curves.values() for x, _ in curve)
most = max(y for curve in curves.values() for _, y in curve)


def at(x, y):
    return LEFT + x / steps * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - y / most * (HEIGHT - TOP - BOTTOM)


lines = [f'<rect width="{WIDTH}" height="{HEIGHT}" class="page"/>', f'<text x="{LEFT}" y="20">loss per step</text>']
for i in range(5):
    (x, y), (_, low) = at(steps * i / 4, most * i / 4), at(0, 0)
    lines.append(f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}"/>'
                 f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{most * i / 4:.1f}</text>'
                 f'<text x="{x:.1f}" y="{low + 18}" text-anchor="middle">{steps * i / 4:.0f}</text>')
for i, (name, curve) in enumerate(curves.items()):
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*p) for p in curve))
    lines.append(f'<polyline class="c{i % 2}" points="{points}"/><text class="c{i % 2}" x="{WIDTH - RIGHT}" y="{TOP + 16 * i}" text-anchor="end">{name}</text>')
pathlib.Path(sys.argv[1]).write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" '
                                     f'font-size="11">\n{STYLE}\n' + "\n".join(lines) + "\n</svg>\n")
