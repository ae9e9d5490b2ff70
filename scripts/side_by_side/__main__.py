"""wengert and its peers side by side: the same loops, the same numbers, one thread each.

    python scripts/side_by_side                       # installs what is missing, runs everything, prints the tables
    python scripts/side_by_side --rows c h --peers wengert "JAX tuned" --limit 30
    python scripts/side_by_side --report              # the tables and the plot again, of what has been run

Each cell is a process of its own; results are kept after each in target/side_by_side, so that an interrupted run loses nothing and
rows can be run in pieces. Beside results.json are results.md and results.svg.
"""

import argparse
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import environment
import plot
import run
import table
from field import PEERS
from workloads import ROWS


def main():
    parser = argparse.ArgumentParser(prog="side_by_side", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=ROWS, metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS), metavar="PEER", help=", ".join(PEERS))
    parser.add_argument("--seconds", type=float, default=2.0, help="how long calls of a cell are repeated (2)")
    parser.add_argument("--starts", type=int, default=3, help="processes that make a first call, of which the fastest counts (3)")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds after which a cell is ended (60)")
    parser.add_argument("--memory", type=float, default=8.0, help="GB above which it is (8)")
    parser.add_argument("--wheel", type=Path, help="a wheel of wengert, instead of building one")
    parser.add_argument("--python", type=Path, help="a Python that has everything: nothing is installed")
    parser.add_argument("--codipack", type=Path, help="a clone of CoDiPack, which is in no package index (or $CODIPACK)")
    parser.add_argument("--report", action="store_true", help="run nothing")
    asked = parser.parse_args()
    environment.FOLDER.mkdir(parents=True, exist_ok=True)
    store = environment.FOLDER / "results.json"
    if asked.codipack:
        os.environ["CODIPACK"] = str(asked.codipack.resolve())
    if not asked.report:
        python = asked.python or environment.ready(asked.peers, asked.wheel)
        try:
            run.run(python, store, asked.rows, asked.peers, asked.seconds, asked.limit, asked.memory * 1e9, asked.starts)
        except KeyboardInterrupt:
            print("\ninterrupted; what was run is kept", file=sys.stderr)
    if not store.exists():
        sys.exit("nothing has been run")
    results = json.loads(store.read_text())
    text = table.markdown(results)
    (environment.FOLDER / "results.md").write_text(text)
    (environment.FOLDER / "results.svg").write_text(plot.svg(results))
    print("\n" + text)
    print("also in", *(environment.FOLDER / f"results.{kind}" for kind in ("md", "svg", "json")))


if __name__ == "__main__":
    main()
