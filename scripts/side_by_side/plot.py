"""Results as a picture (SVG): for each row how many times as long as wengert everybody takes, on a logarithmic scale; the run to the left,
the first call to the right. What gave no time stands at the right edge."""

import math
from html import escape

from field import PEERS
from table import US, excuse, number, time_of
from workloads import ABOUT

COLOURS = {
    "wengert": "#111111", "JAX": "#9ecae1", "JAX tuned": "#3182bd", "JAX checkpoint": "#08519c", "JAX forward": "#6baed6",
    "Equinox": "#756bb1", "PyTorch": "#e6550d", "CasADi": "#74c476", "CasADi C": "#006d2c", "autograd": "#b8860b",
    "Warp": "#17becf", "CoDiPack": "#c51b8a", "Enzyme": "#de2d26", "Enzyme fast": "#fc9272",
}  # fmt: skip
SHAPES = "circle square triangle diamond".split()
ROW, WIDTH, LEFT, TOP, GAP = 30, 430, 92, 96, 40
FONT = "font-family='system-ui, sans-serif'"


def mark(x, y, peer, about):
    kind = SHAPES[list(PEERS).index(peer) % len(SHAPES)]
    colour, r = COLOURS[peer], 5
    shape = {
        "circle": f"<circle cx='{x:.1f}' cy='{y}' r='{r}'",
        "square": f"<rect x='{x - r + 0.5:.1f}' y='{y - r + 0.5}' width='{2 * r - 1}' height='{2 * r - 1}'",
        "triangle": f"<path d='M{x:.1f} {y - r} L{x + r:.1f} {y + r - 1} L{x - r:.1f} {y + r - 1} Z'",
        "diamond": f"<path d='M{x:.1f} {y - r - 1} L{x + r + 1:.1f} {y} L{x:.1f} {y + r + 1} L{x - r - 1:.1f} {y} Z'",
    }[kind]
    return f"{shape} fill='{colour}' fill-opacity='0.85' stroke='white' stroke-width='0.7'><title>{escape(about)}</title></{shape[1:].split()[0]}>"


def panel(cells, rows, peers, what, title, left):
    ratios = [
        time_of(cells[row].get(peer), what) / time_of(cells[row][US], what)
        for row in rows
        for peer in peers
        if time_of(cells[row].get(peer), what) and time_of(cells[row].get(US), what)
    ]
    low, high = min(math.floor(math.log10(min(ratios)) * 2) / 2, -0.5), math.ceil(math.log10(max(ratios)))
    scale = (WIDTH - 90) / (high - low)

    def place(ratio):
        return left + (math.log10(ratio) - low) * scale

    bottom = TOP + ROW * len(rows)
    parts = [f"<text x='{left}' y='{TOP - 30}' font-size='14' font-weight='600' {FONT}>{title}</text>"]
    for power in range(math.ceil(low), high + 1):
        x = place(10**power)
        strong = "#111" if power == 0 else "#ddd"
        parts.append(f"<line x1='{x:.1f}' y1='{TOP - 8}' x2='{x:.1f}' y2='{bottom}' stroke='{strong}' stroke-width='1'/>")
        label = f"{10**power:g}×" if power < 4 else f"10{'⁰¹²³⁴⁵⁶⁷⁸⁹'[power]}×"
        parts.append(f"<text x='{x:.1f}' y='{TOP - 12}' font-size='11' text-anchor='middle' fill='#444' {FONT}>{label}</text>")
    for k, row in enumerate(rows):
        y = TOP + ROW * k + ROW // 2
        ours = time_of(cells[row].get(US), what)
        # Wengert's below: who is as fast shall be seen.
        for peer in sorted(peers, key=lambda peer: peer != US):
            theirs = time_of(cells[row].get(peer), what)
            if theirs and ours:
                parts.append(mark(place(theirs / ours), y, peer, f"{row}, {peer}: {number(theirs, 's')}"))
        none = [peer for peer in peers if not time_of(cells[row].get(peer), what) and excuse(cells[row].get(peer)) != "–"]
        for j, peer in enumerate(none):
            x = left + WIDTH - 12 + 7 * (j - len(none) + 1)
            parts.append(
                f"<text x='{x}' y='{y + 4}' font-size='12' text-anchor='middle' fill='{COLOURS[peer]}' {FONT}>×"
                f"<title>{row}, {peer}: {escape(excuse(cells[row].get(peer)))}</title></text>"
            )
    return parts


def svg(results):
    cells = results["cells"]
    rows = [row for row in ABOUT if time_of(cells.get(row, {}).get(US), "seconds")]
    peers = [peer for peer in PEERS if any(peer in cells[row] for row in rows)]
    width, height = LEFT + 2 * WIDTH + GAP + 16, TOP + ROW * len(rows) + 78
    parts = [f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}'>"]
    parts.append(f"<rect width='{width}' height='{height}' fill='white'/>")
    title = "Gradients of loops: how many times as long as wengert (less is faster; one thread)"
    parts.append(f"<text x='16' y='28' font-size='17' font-weight='600' {FONT}>{title}</text>")
    for k, row in enumerate(rows):
        y = TOP + ROW * k
        if k % 2 == 0:
            parts.append(f"<rect x='8' y='{y}' width='{width - 16}' height='{ROW}' fill='#f6f6f6'/>")
        ours = number(cells[row][US]["seconds"], "s")
        parts.append(f"<text x='16' y='{y + 13}' font-size='12' font-weight='600' {FONT}>{row.replace('l_hvp', 'l, product')}</text>")
        parts.append(f"<text x='16' y='{y + 25}' font-size='10' fill='#666' {FONT}>{ours}</text>")
    parts += panel(cells, rows, peers, "seconds", "value and gradient", LEFT)
    parts += panel(cells, rows, peers, "first", "the first call: reading, compiling, running", LEFT + WIDTH + GAP)
    for k, peer in enumerate(peers):
        x, y = 22 + (k % 7) * (width - 40) / 7, TOP + ROW * len(rows) + 24 + 22 * (k // 7)
        parts.append(mark(x, y, peer, peer))
        parts.append(f"<text x='{x + 12:.1f}' y='{y + 4}' font-size='12' {FONT}>{peer}</text>")
    parts.append(
        f"<text x='{width - 16}' y='{height - 10}' font-size='10' text-anchor='end' fill='#666' {FONT}>× at the right: refused, or over"
        " a limit; under a row's name: seconds of wengert</text>"
    )
    return "\n".join([*parts, "</svg>", ""])
