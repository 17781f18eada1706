"""`penstock launch`: all tasks of a job with one command."""

from __future__ import annotations

import argparse
import subprocess
import sys
from typing import Any

from penstock.distributed.launch.job import Job
from penstock.distributed.launch.manifests import kubernetes_manifests, slurm_script
from penstock.distributed.launch.processes import LocalLauncher, free_addresses


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ps", type=int, default=1, help="parameter servers (default: 1)")
    parser.add_argument("--workers", type=int, default=2, help="workers (default: 2)")
    parser.add_argument("--chief", action="store_true", help="a chief beside the workers")
    parser.add_argument("--evaluator", action="store_true", help="an evaluator beside the cluster")
    parser.add_argument(
        "--flags",
        action="store_true",
        help="tell a task its place by --ps_hosts, --worker_hosts, --job_name and --task_index, "
        "besides TF_CONFIG",
    )
    parser.add_argument(
        "--restarts", type=int, default=3, help="how often a task may fail (default: 3)"
    )
    parser.add_argument("--tensorboard", metavar="LOGDIR", help="TensorBoard on this folder, too")
    parser.add_argument(
        "--write",
        choices=("slurm", "kubernetes"),
        help="start nothing: print what that cluster manager needs",
    )
    parser.add_argument("--image", default="penstock", help="of Kubernetes' containers")
    parser.add_argument("script", help="the program's file, as for penstock run")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own arguments")


def _counts(options: Any) -> dict[str, int]:
    counts = {"ps": options.ps, "worker": options.workers}
    if options.chief:
        counts = {"chief": 1, **counts}
    return {kind: count for kind, count in counts.items() if count > 0}


def launch(options: Any) -> int:
    """Runs the command; the exit status."""
    counts = _counts(options)
    if not any(kind != "ps" for kind in counts):
        print("penstock launch: a job needs a worker or a chief", file=sys.stderr)
        return 2
    command = ["penstock", "run", options.script, *options.arguments]
    if options.write == "slurm":
        print(slurm_script(counts, command), end="")
        return 0
    if options.write == "kubernetes":
        print(kubernetes_manifests(counts, command, options.image), end="")
        return 0
    addresses = iter(free_addresses(sum(counts.values())))
    job = Job(
        {kind: [next(addresses) for _ in range(count)] for kind, count in counts.items()},
        evaluator=options.evaluator,
    )
    own = [sys.executable, "-m", "penstock"]
    launcher = LocalLauncher(
        job, [*own, *command[1:]], with_flags=options.flags, restarts=options.restarts
    )
    board = _board(options.tensorboard)
    try:
        return launcher.run()
    finally:
        if board is not None:
            board.terminate()
            board.wait()


def _board(logdir: str | None) -> subprocess.Popen[bytes] | None:
    if logdir is None:
        return None
    return subprocess.Popen([sys.executable, "-m", "penstock", "tensorboard", logdir])
