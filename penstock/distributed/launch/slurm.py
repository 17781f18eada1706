"""A task's TF_CONFIG from the variables that Slurm sets; the job's script runs this module."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping


def hosts_of(nodes: str) -> list[str]:
    """The names in a list of Slurm's, as `gpu[01-03,7],login`."""
    found: list[str] = []
    for part in re.findall(r"[^,\[]+(?:\[[^\]]*\])?", nodes):
        match = re.fullmatch(r"(.*?)\[(.*)\]", part)
        if match is None:
            found.append(part)
            continue
        prefix, ranges = match.groups()
        for entry in ranges.split(","):
            first, _, last = entry.partition("-")
            numbers = range(int(first), int(last or first) + 1)
            found += [f"{prefix}{number:0{len(first)}d}" for number in numbers]
    return found


def tf_config(environment: Mapping[str, str]) -> str:
    """The cluster and the own place in it."""
    counts: dict[str, int] = json.loads(environment["PENSTOCK_SLURM_COUNTS"])
    port = int(environment["PENSTOCK_SLURM_PORT"])
    hosts = hosts_of(environment["SLURM_JOB_NODELIST"])
    tasks = [(kind, i) for kind, count in counts.items() for i in range(count)]
    addresses: dict[str, list[str]] = {kind: [] for kind in counts}
    for number, (kind, _) in enumerate(tasks):
        addresses[kind].append(f"{hosts[number % len(hosts)]}:{port + number // len(hosts)}")
    kind, index = tasks[int(environment["SLURM_PROCID"])]
    return json.dumps({"cluster": addresses, "task": {"type": kind, "index": index}})


if __name__ == "__main__":
    sys.stdout.write(tf_config(os.environ))
