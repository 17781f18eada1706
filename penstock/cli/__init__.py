"""The `penstock` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="penstock", description="TensorFlow 1.x programs on today's Python and kernels."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser(
        "run",
        help="run an unmodified TensorFlow 1.x program",
        description="Runs a program with penstock in the place of tensorflow.",
    )
    run.add_argument(
        "--py2", action="store_true", help="convert the program from Python 2, in memory"
    )
    run.add_argument("script", help="the program's file")
    run.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own arguments")
    doctor = commands.add_parser(
        "doctor",
        help="list the names of TensorFlow that a program uses and that are missing",
        description="Reads programs, without running them, and lists what they need of TensorFlow.",
    )
    doctor.add_argument("paths", nargs="+", metavar="path", help="a file, or a folder of files")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; the exit status."""
    options = _parser().parse_args(sys.argv[1:] if arguments is None else arguments)
    if options.command == "doctor":
        from penstock.cli.doctor import report

        return report(options.paths)
    from penstock.cli.run import run_program

    return run_program(options.script, options.arguments, py2=options.py2)
