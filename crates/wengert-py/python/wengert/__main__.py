"""The command: ``python -m wengert grad model.py a=2``."""

import sys


def main():
    """Runs the command with what was typed after its name."""
    from ._wengert import command

    sys.exit(command(["wengert", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
