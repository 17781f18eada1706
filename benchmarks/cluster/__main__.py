"""Compares clusters of Penstock and TensorFlow: `python -m benchmarks.cluster`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from time import sleep

from benchmarks.cluster.contest import ENTRANTS, Cluster, Measured
from benchmarks.cluster.mnist import MNIST_ROWS
from benchmarks.cluster.rows import ROWS, Row
from benchmarks.frameworks import default_peers_directory
from benchmarks.run import SETTLING, names, say
from benchmarks.table import markdown_table, number

_ALL = [*ROWS, *MNIST_ROWS]
_WARM_UP_SECONDS = 20.0  # of training, in which Penstock compiles what is hot


def _taking_turns(row: Row, clusters: Sequence[Cluster], rounds: int) -> Measured:
    """One row in all clusters; only one computes at any time."""
    measured = Measured(row, {cluster.entrant.name: [] for cluster in clusters})
    for cluster in clusters:
        say(f"{row.name}: {cluster.entrant.name}")
        cluster.build(row)
        for _ in range(round(_WARM_UP_SECONDS / row.seconds) if row.by_workers else 1):
            cluster.run(row, row.steps)
    for turn in range(rounds):
        first = turn % len(clusters)
        for cluster in [*clusters[first:], *clusters[:first]]:
            sleep(SETTLING)
            measured.seconds[cluster.entrant.name] += cluster.run(row, row.steps)
    return measured


def _measure(
    row: Row, clusters: Sequence[Cluster], options: argparse.Namespace, peers: Path
) -> Measured:
    """Measures a row; one that workers run gets clusters of its own, since training has no end."""
    if not row.by_workers:
        measured = _taking_turns(row, clusters, options.rounds)
        for cluster in clusters:
            cluster.drop()
        return measured
    with ExitStack() as stack:
        own = [stack.enter_context(Cluster(cluster.entrant, peers)) for cluster in clusters]
        return _taking_turns(row, own, options.rounds)


def _judgement(measured: Measured) -> str:
    """The targets of a row, and whether they are met."""
    found = []
    for entrant, target in (
        ("penstock", measured.row.target),
        ("penstock-tcp", measured.row.tcp_target),
    ):
        speedup = measured.speedup(entrant)
        if target is not None and speedup is not None:
            place = "" if entrant == "penstock" else " by TCP"
            verdict = "met" if speedup >= target else "missed"
            found.append(f"≥ {target:g}{place}: {verdict}")
    return ", ".join(found)


def report(results: Sequence[Measured], entrants: Sequence[str], versions: str) -> str:
    """The table: medians in milliseconds, and rates as multiples of TensorFlow's."""
    titles = {entrant.name: entrant.title for entrant in ENTRANTS}
    own = [name for name in entrants if name != "tensorflow"]
    header = ["step, ms"]
    header += [titles[name] for name in entrants]
    header += [f"{titles[name]}: × TensorFlow's rate" for name in own]
    lines = []
    for each in results:
        times = [each.median(name) for name in entrants]
        rates = [each.speedup(name) for name in own]
        line = [each.row.title]
        line += ["–" if time is None else number(1000 * time) for time in times]
        line += ["–" if rate is None else f"{rate:.1f}" for rate in rates]
        lines.append([*line, _judgement(each)])
    table = markdown_table([*header, "target"], lines)
    return f"{table}\n\nMedians of the steps. {versions}"


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    known = [row.name for row in _ALL]
    entrants = [entrant.name for entrant in ENTRANTS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=lambda text: names(known, text), default=known)
    parser.add_argument("--entrants", type=lambda text: names(entrants, text), default=entrants)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", type=Path, default=default_peers_directory())
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every step's time")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table here, too")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    peers = options.peers.expanduser().absolute()
    results = []
    with ExitStack() as stack:
        clusters = [
            stack.enter_context(Cluster(entrant, peers))
            for entrant in ENTRANTS
            if entrant.name in options.entrants
        ]
        for row in _ALL:
            if row.name in options.rows:
                results.append(_measure(row, clusters, options, peers))
        versions = ", ".join(
            f"{cluster.entrant.title} {cluster.version}"
            for cluster in clusters
            if cluster.entrant.name != "penstock-tcp"
        )
    load = os.getloadavg()[0]
    text = report(results, options.entrants, f"{versions}. Load at the end: {load:.1f}.")
    print(text)
    if options.markdown:
        options.markdown.write_text(text + "\n")
    if options.json:
        content = {each.row.name: each.seconds for each in results}
        options.json.write_text(json.dumps(content, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
