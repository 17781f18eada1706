"""The `penstock` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; the exit status."""
    parser = argparse.ArgumentParser(
        prog="penstock", description="TensorFlow 1.x programs on today's Python and kernels."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser(
        "run",
        help="run an unmodified TensorFlow 1.x program",
        description="Runs a program with penstock in the place of tensorflow.",
    )
    run.add_argument("script", help="the program's file")
    run.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own arguments")
    options = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
    from penstock.cli.run import run_program

    return run_program(options.script, options.arguments)
