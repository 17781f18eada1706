"""`penstock debug`: a program under a debugger that stops inside of its runs."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack

from penstock.cli.run import run_program


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument(
        "--break",
        dest="breakpoints",
        action="append",
        default=[],
        metavar="NODE",
        help="stop before a node: a name, a glob, or type:OP (may be given several times)",
    )
    parser.add_argument(
        "--watch",
        dest="watches",
        action="append",
        default=[],
        metavar="NODE",
        help="print the values of nodes whenever they have run",
    )
    parser.add_argument(
        "--stop-on",
        dest="stop_on",
        action="append",
        default=[],
        choices=("nan", "inf", "error"),
        help="stop where a value is not finite, or a node fails",
    )
    parser.add_argument(
        "--commands", metavar="FILE", help="take commands from a file, not from standard input"
    )
    parser.add_argument("--py2", action="store_true", help="convert the program from Python 2")
    parser.add_argument("script", help="the program's file")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own arguments")


def debug(options: argparse.Namespace) -> int:
    """Runs the program under the debugger; the program's exit status."""
    from penstock.debugger.stepper import GraphDebugger

    with ExitStack() as stack:
        commands = None
        if options.commands:
            if not os.path.isfile(options.commands):
                print(f"penstock debug: there is no file {options.commands!r}", file=sys.stderr)
                return 2
            commands = stack.enter_context(open(options.commands, encoding="utf-8"))
        stack.enter_context(
            GraphDebugger(options.breakpoints, options.watches, options.stop_on, commands)
        )
        return run_program(options.script, options.arguments, py2=options.py2)
