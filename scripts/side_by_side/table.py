"""Results as Markdown: seconds of a value and gradient, seconds of the first call, memory; and the rows where somebody is faster."""

from field import PEERS
from workloads import ABOUT

US = "wengert"


def number(x, unit=""):
    """Three digits, in the unit people would choose."""
    if unit == "s":
        for factor, name in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
            if x * factor >= 0.9995 or name == "µs":
                return f"{digits(x * factor)} {name}"
    return digits(x)


def digits(x):
    if x >= 999.5:
        return f"{x:.0f}"
    return f"{x:.3g}" if x >= 99.95 or x != round(x, 2) else f"{x:g}"


def ratio(x):
    return f"{x:.0f}" if x >= 9.95 else f"{x:.2g}" if x < 0.995 else f"{x:.1f}"


def excuse(cell):
    if cell is None or cell.get("absent"):
        return "–"
    if "refused" in cell:
        return "refused"
    return cell.get("over") or "failed"


def time_of(cell, what):
    """Seconds of a cell, if its gradient was right."""
    return cell.get(what) if cell and cell.get("agrees") else None


def timed(cells, row, peer, what):
    cell = cells.get(row, {}).get(peer)
    seconds, ours = time_of(cell, what), time_of(cells.get(row, {}).get(US), what)
    if cell and "agrees" in cell and not cell["agrees"]:
        return f"**wrong** ({cell['error']:.0e})"
    if seconds is None:
        return excuse(cell)
    if peer == US or ours is None:
        return number(seconds, "s")
    least = f"{number(seconds, 's')} ({ratio(seconds / ours)})"
    return f"**{least}**" if seconds < ours else least


def held(cells, row, peer):
    cell = cells.get(row, {}).get(peer)
    memory = time_of(cell, "memory")
    return excuse(cell) if memory is None else f"{memory / 1e6:.0f}"


def grid(title, rows, peers, entry):
    lines = [f"### {title}", "", "| | " + " | ".join(peers) + " |", "| --- |" + " ---: |" * len(peers)]
    lines += ["| " + " | ".join([row.replace("l_hvp", "l, product"), *(entry(row, peer) for peer in peers)]) + " |" for row in rows]
    return "\n".join([*lines, ""])


def markdown(results):
    cells = results["cells"]
    rows = [row for row in ABOUT if row in cells]
    peers = [peer for peer in PEERS if any(peer in cells[row] for row in rows)]
    parts = [
        grid("Value and gradient", rows, peers, lambda row, peer: timed(cells, row, peer, "seconds")),
        grid("The first call", rows, peers, lambda row, peer: timed(cells, row, peer, "first")),
        grid("Memory, MB", rows, peers, lambda row, peer: held(cells, row, peer)),
        "### Where a peer is faster",
        "",
        *faster(cells, rows, peers),
        "",
        "### What was refused",
        "",
        *refused(cells, rows, peers),
        "",
        f"{results['machine']['processor']}, {results['machine']['system']}, {results['machine']['date']}; "
        + ", ".join(f"{name} {version}" for name, version in results["versions"].items())
        + ".",
    ]
    return "\n".join(parts) + "\n"


def faster(cells, rows, peers):
    found = []
    for row in rows:
        for what, words in (("seconds", ""), ("first", ", first call")):
            ours = time_of(cells[row].get(US), what)
            for peer in peers:
                theirs = time_of(cells[row].get(peer), what)
                if ours and theirs and theirs < ours:
                    found.append(f"- {row}{words}: {peer}, {number(theirs, 's')} against {number(ours, 's')}")
    return found or ["None."]


def refused(cells, rows, peers):
    said = {}
    for row in rows:
        for peer in peers:
            cell = cells[row].get(peer) or {}
            if word := cell.get("refused") or cell.get("failed"):
                said.setdefault((peer, word), []).append(row)
    return [f"- {peer} ({', '.join(rows)}): {word}" for (peer, word), rows in said.items()] or ["Nothing."]
