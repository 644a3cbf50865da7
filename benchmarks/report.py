# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The results as text, as Markdown and as a chart."""
from html import escape
from typing import NamedTuple

from kernels import Kernel

# "quiet" is the quiet fifth of the column before it, "alone" the items whose core no other thread shared.
COLUMNS = ("cell", "T", "% peak", "quiet", "alone", "% read", "quiet", "ms", "best peer", "its ms", "ratio", "quiet", "error")
WIDTHS = (28, 2, 7, 6, 6, 7, 6, 9, 20, 9, 6, 6, 6)
UNSTEADY = 0.05  # spread of the bursts from which a share is marked


def number(value, digits=1):
    return "-" if value is None else f"{value:.{digits}f}"


def values(row):
    """A row's columns, or its cell and threads and why there are no others."""
    ours = row["results"].get(Kernel.name, {})
    best = row.get("best_peer")
    peer = (best or "-", number(row["results"][best]["ms"], 3) if best else "-")
    start = (row["cell"], str(row["threads"]))
    if ours.get("status") != "ok":
        return start, peer, f"{ours.get('status', 'left out')}: {ours.get('why', '')}"
    shares = [number(ours.get(key)) for key in ("peak_pct", "quiet_pct", "unshared_pct", "read_pct", "read_quiet_pct")]
    if ours["peak_spread"] > UNSTEADY:
        shares[0] = "~" + shares[0]
    ratios = (number(row.get("ratio"), 2), number(row.get("quiet_ratio"), 2))
    return start, (*shares, number(ours["ms"], 3), *peer, *ratios, f"{ours['error']:.0e}"), None


def join(columns):
    return " ".join(f"{c:<{w}}" if i in (0, 8) else f"{c:>{w}}" for i, (c, w) in enumerate(zip(columns, WIDTHS)))


def text_line(row):
    start, rest, why = values(row)
    if why:
        return join(start) + f" {why}" + (f" (best peer: {rest[0]}, {rest[1]} ms)" if rest[0] != "-" else "")
    return join((*start, *rest))


def conditions(result):
    c = result["conditions"]
    where = "a virtual machine" if c["virtual_machine"] else "a machine of its own"
    model = f" ({c['model']})" if c["model"] else ""
    target = result.get("target", "native")
    made = f", kernels for {target}" if target != "native" else ""
    return f"{result['date']}, {c['processors']} processors of {result['cpu']}{model} in {where}, {result['isa']}{made}, " \
           f"load average {c['load_average'][0]}"


def speeds(threads, limits):
    reads = ", ".join(f"{key.split('_')[1]} MB {value:.0f}" for key, value in limits.items() if key.startswith("read"))
    dots = f" (bf16 dot products {limits['bf16_dot_gflops']:.0f})" if "bf16_dot_gflops" in limits else ""
    return f"{threads} thread{'s' if threads > 1 else ''}: {limits['fma_gflops']:.0f} GFLOP/s f32{dots}; " \
           f"plain read in GB/s of {reads}"


def headline(result, threads, limits):
    return f"{conditions(result)}\n{speeds(threads, limits)}\n{join(COLUMNS)}"


def text(result):
    lines = []
    for threads, limits in result["limits"].items():
        lines.append(headline(result, int(threads), limits))
        lines += [text_line(row) for row in result["rows"] if row["threads"] == int(threads)]
    return "\n".join(lines)


def markdown(result):
    """A table as in docs/measurements."""
    versions = ", ".join(f"{name} {version}" for name, version in sorted(result["versions"].items()))
    lines = [conditions(result) + ".", versions + ".", ""]
    lines += [speeds(int(threads), limits) + "." for threads, limits in result["limits"].items()]
    lines += ["", "| " + " | ".join(COLUMNS) + " |", "|" + " --- |" * len(COLUMNS)]
    for row in result["rows"]:
        start, rest, why = values(row)
        columns = (*start, *["-"] * 6, *rest, "-", "-", why) if why else (*start, *rest)
        lines.append("| " + " | ".join(columns) + " |")
    behind = [row for row in result["rows"] if row.get("ratio", 1) < 1]
    lines += ["", "Slower than the best peer: " + (", ".join(
        f"{row['cell']} with {row['threads']} thread{'s' if row['threads'] > 1 else ''} ({row['ratio']:.2f})"
        for row in behind) if behind else "no cell that was compared") + "."]
    return "\n".join(lines)


class Bar(NamedTuple):
    """A cell's share of the nearer roof, in percent: FMA peak, or for decoding the plain read where that is the larger share."""
    label: str
    roof: str = ""  # peak or read; empty where there is no time, and the note says why
    share: float = 0
    quiet: float = 0  # the quiet fifth
    peer: str = ""  # the best one, if one was measured
    ratio: float = 0  # its time over ours
    note: str = ""


def bar_of(row):
    ours = row["results"].get(Kernel.name, {})
    label = f"{row['cell']} ({row['threads']})"
    if ours.get("status") != "ok":
        return Bar(label, note=ours.get("status", "left out"))
    roof = "read" if ours.get("read_pct", 0) > ours["peak_pct"] else "peak"
    share, quiet = (ours[k] for k in (("read_pct", "read_quiet_pct") if roof == "read" else ("peak_pct", "quiet_pct")))
    return Bar(label, roof, share, quiet, row.get("best_peer") or "", row.get("ratio", 0))


def bars_of_page(page):
    """The bars of the first table of docs/performance.md, and the machine as the line above says it."""
    lines = page.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("| cell |"))
    bars = []
    for line in lines[head + 2:]:
        if not line.startswith("|"):
            break
        cell, roof, share, peer, ratio = [word.strip() for word in line.split("|")[1:6]]
        bars.append(Bar(cell, roof, float(share), float(share), peer, float(ratio)))
    return lines[head - 2].split(". ")[0], bars


# Light and dark, as the reader's system is.
STYLE = """<style>
text { fill: #222 } line { stroke: #ddd } .page { fill: #fff } .wrong { fill: #a00 }
.peak { fill: #2f6fb5 } .read { fill: #2a9d5c } .quiet { opacity: .35 } .peer { fill: #b0b0b0 }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd } line { stroke: #444 } .page { fill: #111 } .wrong { fill: #f77 }
  .peak { fill: #5b9be0 } .read { fill: #4cc483 } .peer { fill: #666 }
}
</style>"""
LEFT, SCALE, TOP, STEP = 200, 4, 56, 21  # pixels: of the axis, of a percent, of the first bar, from bar to bar


def draw(y, bar):
    def rect(y, share, height, kind):
        return f'<rect x="{LEFT}" y="{y}" width="{SCALE * min(100, share):.1f}" height="{height}" class="{kind}"/>'

    label = f'<text x="{LEFT - 4}" y="{y + 12}" text-anchor="end">{escape(bar.label)}</text>'
    if not bar.roof:
        return label + f'<text x="{LEFT + 4}" y="{y + 12}" class="wrong">{escape(bar.note)}</text>'
    ours = (rect(y, bar.quiet, 10, f"{bar.roof} quiet") if bar.quiet > bar.share else "") + rect(y, bar.share, 10, bar.roof)
    peer = rect(y + 11, bar.share / bar.ratio, 4, "peer") if bar.ratio else ""
    note = f"{bar.share:.0f} %" + (f", {bar.ratio:.2f} times {bar.peer}" if bar.ratio else "")
    return f'{label}{ours}{peer}<text x="{LEFT + 4 + SCALE * min(100, max(bar.share, bar.quiet)):.1f}" y="{y + 12}">{escape(note)}</text>'


def chart(title, bars):
    height = TOP + STEP * len(bars) + 24
    grid = "".join(f'<line x1="{LEFT + SCALE * x}" y1="{TOP - 6}" x2="{LEFT + SCALE * x}" y2="{height - 20}"/>'
                   f'<text x="{LEFT + SCALE * x}" y="{height - 6}" text-anchor="middle">{x}</text>' for x in range(0, 101, 20))
    legend = "Percent of the FMA peak (blue) or of a plain read (green); in grey the best peer, and how many times faster than it"
    drawn = "\n".join(draw(TOP + STEP * i, bar) for i, bar in enumerate(bars))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="800" height="{height}" font-family="sans-serif" font-size="11">
{STYLE}
<rect width="800" height="{height}" class="page"/>
<text x="12" y="18" font-size="12">{escape(title)}</text>
<text x="12" y="36">{legend}</text>
{grid}
{drawn}
</svg>
"""


def svg(result):
    return chart(conditions(result), [bar_of(row) for row in result["rows"]])
