"""`penstock profile`: a program's steps, where their time and memory go, and a picture of them.

The tables go to standard error, since standard output is the program's own.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

from penstock.cli.run import run_program


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument(
        "--steps",
        metavar="A-B",
        type=_ranges,
        help="trace these runs of the program, such as 10-20 or 5,7 (counted from 1)",
    )
    parser.add_argument(
        "--runs",
        type=int,
        default=5,
        metavar="N",
        help="without --steps: trace N runs of each form of Session.run (5)",
    )
    parser.add_argument(
        "--skip", type=int, default=1, metavar="N", help="... after its first N runs (1)"
    )
    parser.add_argument("--top", type=int, default=15, metavar="N", help="rows in a table (15)")
    parser.add_argument(
        "--output",
        default="penstock_profile.html",
        metavar="FILE",
        help="the page with the picture (penstock_profile.html); '' for none",
    )
    parser.add_argument("--trace", metavar="FILE", help="also a Chrome trace of the slowest form")
    parser.add_argument("--json", metavar="FILE", help="also the numbers, as JSON")
    parser.add_argument("--py2", action="store_true", help="convert the program from Python 2")
    parser.add_argument("script", help="the program's file")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own arguments")


def _ranges(text: str) -> Callable[[int, int], bool]:
    """`3,10-12`: which runs of the program to trace."""
    try:
        parts = [part.split("-") for part in text.split(",")]
        pairs = [(int(part[0]), int(part[-1])) for part in parts]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers and ranges") from None
    return lambda number, of_form: any(low <= number <= high for low, high in pairs)


def profile(options: argparse.Namespace) -> int:
    """Runs the program and reports, also where it ends with an error; the program's exit status."""
    from penstock.tracing.profiled_program import ProgramProfile

    first, last = options.skip, options.skip + options.runs
    wants = options.steps or (lambda number, of_form: first < of_form <= last)
    profiled = ProgramProfile(wants)
    try:
        with profiled:
            return run_program(options.script, options.arguments, py2=options.py2)
    finally:
        _report(profiled, options)


def _report(profiled: Any, options: argparse.Namespace) -> None:
    from penstock.tracing.profile_page import page, summary
    from penstock.tracing.profile_text import report

    sys.stdout.flush()
    print(report(profiled, options.top), file=sys.stderr)
    forms = profiled.traced_forms()
    if not forms:
        return
    if options.output:
        _write(options.output, page(options.script, profiled))
    if options.json:
        _write(options.json, json.dumps(summary(profiled), indent=1))
    if options.trace:
        from penstock.tracing.timeline import Timeline

        stats = forms[0].traced[-1].trace.step_stats()
        _write(options.trace, Timeline(stats).generate_chrome_trace_format(show_memory=True))


def _write(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        print(f"penstock profile: can't write {path}: {error}", file=sys.stderr)
    else:
        print(f"penstock profile: wrote {path}", file=sys.stderr)
