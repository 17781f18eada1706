"""Runs the ops and prints how they compare: `python -m benchmarks.ops`."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.frameworks import default_peers_directory
from benchmarks.ops.families import FAMILIES
from benchmarks.ops.measure import Measurer
from benchmarks.ops.report import line, report
from benchmarks.ops.results import Results
from benchmarks.ops.trial import SIZES, Generator


def parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ops", description="Compare each op with TensorFlow's kernel."
    )
    parser.add_argument("--family", action="append", choices=FAMILIES, help="may be repeated")
    parser.add_argument("--op", action="append", metavar="TYPE", help="may be repeated")
    parser.add_argument("--size", action="append", type=int, choices=SIZES, help="may be repeated")
    parser.add_argument("--rounds", type=int, default=5, help="0 measures nothing")
    parser.add_argument("--milliseconds", type=float, default=4.0, help="a side's turn in a round")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peers", type=Path, default=default_peers_directory())
    parser.add_argument("--results", type=Path, metavar="FILE", help="add to the results in here")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables here")
    options = parser.parse_args(arguments)
    options.peers = options.peers.expanduser().absolute()
    return options


def chosen(options: argparse.Namespace) -> Iterator[tuple[str, int, Generator]]:
    """The op types and sizes to measure."""
    for family, table in FAMILIES.items():
        if options.family and family not in options.family:
            continue
        for op_type, generator in table.items():
            if not options.op or op_type in options.op:
                for size in options.size or SIZES:
                    yield op_type, size, generator


def measure(options: argparse.Namespace, results: Results) -> None:
    with Measurer(
        rounds=options.rounds,
        milliseconds=options.milliseconds,
        threads=options.threads,
        peers=options.peers,
    ) as measurer:
        results.versions, results.threads = measurer.versions, options.threads
        for op_type, size, generator in chosen(options):
            result = measurer.measure(op_type, size, generator(size))
            results.add(result)
            print(line(result), flush=True)
            if options.results:
                results.save(options.results)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints each op as it is measured; returns 1 if one of them failed."""
    options = parse_options(arguments)
    results = Results.load(options.results) if options.results else Results()
    if options.rounds:
        measure(options, results)
    if options.markdown:
        options.markdown.write_text(report(results))
    return int(any(result.failure for result in results.measured.values()))


if __name__ == "__main__":
    sys.exit(main())
