"""What notebooks show: programs, plans, and curves, as HTML and SVG."""

import html
import math

import numpy as np

WIDTH, HEIGHT = 720, 320
LEFT, RIGHT, TOP, BOTTOM = 76, 150, 44, 48

# Told apart without colours too: by the order of the legend.
COLOURS = ("#2b6cb0", "#d1601f", "#2f855a", "#805ad5", "#b83280", "#718096")

_MONO = "font-family:ui-monospace,monospace;font-size:13px;line-height:1.45;text-align:left"


def program(function):
    """The text of a program, with the lines of its file."""
    collected = function._collected()
    out = []
    for file, line, text in collected.parts:
        rows = []
        lines = text.rstrip().splitlines()
        # What decorators leave behind.
        first = next((k for k, row in enumerate(lines) if row.strip()), 0)
        for k, row in enumerate(lines[first:], line + first):
            number = f'<span style="color:#8a94a0">{k:>4}  </span>'
            rows.append(number + html.escape(row))
        head = f'<div style="color:#8a94a0;{_MONO}">{html.escape(str(file))}</div>'
        out.append(f'{head}<pre style="margin:0 0 .6em;{_MONO}">' + "\n".join(rows) + "</pre>")
    captured = ", ".join(f"{name}: {_described(value)}" for name, value in collected.captured)
    about = f"<div style='{_MONO}'><b>{html.escape(repr(function))}</b></div>"
    if captured:
        about += f'<div style="{_MONO}">captured: {html.escape(captured)}</div>'
    return about + "".join(out)


def _described(value):
    shape = np.shape(value)
    kind = getattr(value, "dtype", type(value).__name__)
    return f"{kind} {'x'.join(map(str, shape))}" if shape else f"{kind}"


def plan(plan, sized, timed):
    """A plan as a table for each loop, and a drawing of the schedule in the memory that is allowed."""
    if not plan.loops:
        return f"<p>{html.escape(repr(plan))}</p>"
    out = []
    for of in plan.loops:
        steps = f"{of['steps']:,} iterations" if of["steps"] is not None else "its end is not known"
        out.append(f"<p><b>the loop of line {of['line']}</b>: {steps}")
        if of["state_bytes"] is not None:
            out.append(f"; a state takes {sized(of['state_bytes'])}, the record of an iteration {sized(of['record_bytes'])}")
        out.append("</p><table><tr><th>memory</th><th>evaluations of each</th><th>at most</th><th>about</th></tr>")
        for row in of["forecasts"]:
            name = "everything, " if row["memory"] == of["everything"] else ""
            per = row["evaluations"] / max(of["steps"] or 1, 1)
            cells = (f"{name}{sized(row['memory'])}", f"{per:.2f}", sized(row["bytes"]), timed(row["seconds"]))
            out.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
        out.append("</table>")
        drawn = schedule(of, plan.memory, sized)
        if drawn:
            out.append(drawn)
    return "".join(out)


# A picture of more steps shows no more.
_STEPS = 2000


def schedule(of, memory, sized):
    """The schedule of a loop in so many bytes, drawn: of long loops some iterations are taken as one."""
    from ._wengert import schedule as draw

    if not of["steps"] or of["state_bytes"] is None or not of["everything"]:
        return None
    memory = of["everything"] // 10 if memory is None else memory
    group = -(-of["steps"] // _STEPS)
    drawn = draw(-(-of["steps"] // group), of["state_bytes"], of["record_bytes"] * group, memory)
    if drawn is None:
        return None
    of_each = f", of {group} iterations each" if group > 1 else ""
    drawn = drawn.replace(" steps</text>", f" steps{of_each}, in {sized(memory)}</text>", 1)
    # As wide as there is room.
    return drawn.replace(" width=", ' style="max-width:100%;height:auto" width=', 1)


def lines(title, across, xs, curves):
    """Curves of positive numbers over whole ones, on a logarithmic scale."""
    curves = {name: np.asarray(ys, dtype=float) for name, ys in curves.items()}
    positive = [y for ys in curves.values() for y in ys if np.isfinite(y) and y > 0]
    low, high = (math.log10(min(positive)), math.log10(max(positive))) if positive else (0.0, 0.0)
    low, high = math.floor(low + 1e-9), math.ceil(high - 1e-9)
    if low == high:
        low, high = low - 1, high + 1
    end = max(float(xs[-1]), 1.0)
    x_of = lambda x: LEFT + (WIDTH - LEFT - RIGHT) * x / end
    y_of = lambda y: HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (math.log10(y) - low) / (high - low)
    floor = HEIGHT - BOTTOM
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'style="max-width:100%;height:auto" font-family="system-ui, sans-serif" font-size="13" fill="#222">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="24" font-size="15" font-weight="600">{html.escape(title)}</text>',
    ]
    step = max(1, -(-(high - low) // 6))
    for power in range(high, low - 1, -step):
        y = y_of(10.0**power)
        out.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#e2e6ea"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#555">{_power(power)}</text>')
    for x in _ticks(end):
        out.append(f'<path d="M{x_of(x):.1f} {floor}v5" stroke="#555"/>')
        out.append(f'<text x="{x_of(x):.1f}" y="{floor + 19}" text-anchor="middle" fill="#555">{x:,}</text>')
    out.append(f'<path d="M{LEFT} {TOP}V{floor}H{WIDTH - RIGHT}" fill="none" stroke="#555"/>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    out.append(f'<text x="{middle}" y="{HEIGHT - 10}" text-anchor="middle" fill="#555">{html.escape(across)}</text>')
    for k, (name, ys) in enumerate(curves.items()):
        colour = COLOURS[k % len(COLOURS)]
        path, pen, drawn = [], "M", 0
        for x, y in zip(xs, ys):
            if np.isfinite(y) and y > 0:
                path.append(f"{pen}{x_of(float(x)):.1f} {y_of(y):.1f}")
                pen, drawn = "L", drawn + 1
            else:
                pen = "M"
        if drawn == 1:
            x, y = next((x, y) for x, y in zip(xs, ys) if np.isfinite(y) and y > 0)
            out.append(f'<circle cx="{x_of(float(x)):.1f}" cy="{y_of(y):.1f}" r="3" fill="{colour}"/>')
        out.append(f'<path d="{"".join(path)}" fill="none" stroke="{colour}" stroke-width="1.8" stroke-linejoin="round"/>')
        at, label = TOP + 8 + 20 * k, html.escape(name) + ("" if drawn else ": 0")
        out.append(f'<path d="M{WIDTH - RIGHT + 14} {at}h20" stroke="{colour}" stroke-width="3"/>')
        out.append(f'<text x="{WIDTH - RIGHT + 40}" y="{at + 4}">{label}</text>')
    return "\n".join([*out, "</svg>"])


def _power(power):
    raised = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return {0: "1", 1: "10"}.get(power, f"10{raised}")


def _ticks(end):
    """Four or so round numbers.

    >>> _ticks(1000), _ticks(7)
    ([0, 200, 400, 600, 800, 1000], [0, 2, 4, 6])
    """
    rough = max(end / 5, 1.0)
    size = 10 ** math.floor(math.log10(rough))
    step = next(m * size for m in (1, 2, 5, 10) if m * size >= rough)
    return list(range(0, int(end) + 1, int(step)))


def bar(line, part):
    """How far a run is: a bar, and in words."""
    drawn = "" if part is None else f'<progress value="{part:.3f}" max="1" style="width:24em;vertical-align:middle"></progress> '
    return f'<div style="{_MONO}">{drawn}{html.escape(line)}</div>'
