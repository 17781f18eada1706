"""`penstock launch`: all tasks of a job with one command."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.distributed.launch.bound_process import bound_command
from penstock.distributed.launch.job import Job
from penstock.distributed.launch.manifests import (
    kubernetes_job,
    kubernetes_manifests,
    slurm_script,
)
from penstock.distributed.launch.processes import free_addresses, run_locally


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
    parser.add_argument("--logs", metavar="FOLDER", help="a file of each task's lines, too")
    parser.add_argument("--tensorboard", metavar="LOGDIR", help="TensorBoard on this folder, too")
    parser.add_argument(
        "--on",
        choices=("processes", "ray"),
        default="processes",
        help="what the tasks are: processes of this machine (the default) or actors of Ray",
    )
    parser.add_argument(
        "--name", default="penstock", help="the job's, on Ray or in what is written (penstock)"
    )
    _add_ray_arguments(parser.add_argument_group("on Ray"))
    parser.add_argument(
        "--write",
        choices=("slurm", "kubernetes"),
        help="start nothing: print what that cluster manager needs",
    )
    parser.add_argument("--image", default="penstock", help="of Kubernetes' containers")
    parser.add_argument("script", help="the program's file, as for penstock run")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own arguments")


def _add_ray_arguments(group: Any) -> None:
    group.add_argument(
        "--address", help="of Ray's head; without: a Ray that runs here, or one for this job"
    )
    group.add_argument("--cpus", type=float, default=1.0, help="of each task (default: 1)")
    group.add_argument(
        "--gpus", type=float, default=0.0, help="of each task but parameter servers (default: 0)"
    )
    group.add_argument(
        "--strategy",
        default="PACK",
        choices=("PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD"),
        help="how tasks are spread over nodes (default: PACK)",
    )
    group.add_argument(
        "--upload",
        metavar="FOLDER",
        help="copy this folder to the nodes and run the program in it; without: all nodes see "
        "the folder that this is started in",
    )


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
    command = ["run", options.script, *options.arguments]
    if options.write is not None:
        try:
            _write(counts, ["penstock", *command], options)
        except ValueError as error:
            print(f"penstock launch: {error}", file=sys.stderr)
            return 2
        return 0
    with _board(options.tensorboard):
        how = _launch_on_ray if options.on == "ray" else _launch_here
        return how(counts, command, options)


def _write(counts: dict[str, int], command: list[str], options: Any) -> None:
    """Prints what a cluster manager needs, and what else there is to do for the user to see."""
    settings = {"with_flags": options.flags, "restarts": options.restarts}
    if options.write == "slurm":
        print(
            slurm_script(counts, command, options.name, evaluator=options.evaluator, **settings),
            end="",
        )
    else:
        job = kubernetes_job(counts, options.name, evaluator=options.evaluator)
        print(kubernetes_manifests(job, command, options.image, options.name, **settings), end="")
        hosts = [each.rpartition(":")[0] for kind in job.addresses.values() for each in kind]
        print(
            "penstock launch: the tasks take their credentials from a secret; it is made by\n"
            f"  penstock certs FOLDER {' '.join(hosts)}\n"
            f"  kubectl create secret generic {options.name} --from-file=FOLDER",
            file=sys.stderr,
        )
    if options.tensorboard is not None:
        print(
            "penstock launch: TensorBoard is no part of it; where the folder can be seen, it is\n"
            f"  penstock tensorboard {options.tensorboard}",
            file=sys.stderr,
        )


def _launch_here(counts: dict[str, int], command: list[str], options: Any) -> int:
    if not os.path.exists(options.script):  # or each task would say so, four times
        print(f"penstock launch: there is no file {options.script!r}", file=sys.stderr)
        return 2
    addresses = iter(free_addresses(sum(counts.values())))
    job = Job(
        {kind: [next(addresses) for _ in range(count)] for kind, count in counts.items()},
        evaluator=options.evaluator,
    )
    return run_locally(
        job,
        [sys.executable, "-m", "penstock", *command],
        with_flags=options.flags,
        restarts=options.restarts,
        logs=options.logs,
    )


def _launch_on_ray(counts: dict[str, int], command: list[str], options: Any) -> int:
    from penstock.distributed.launch.ray_jobs import (
        RayOptions,
        RayUnavailable,
        counted_job,
        run_on_ray,
    )

    try:
        return run_on_ray(
            counted_job(counts, evaluator=options.evaluator),
            command,
            RayOptions(
                name=options.name,
                address=options.address,
                cpus=options.cpus,
                gpus=options.gpus,
                strategy=options.strategy,
                upload=options.upload,
            ),
            with_flags=options.flags,
            restarts=options.restarts,
            logs=options.logs,
        )
    except (RayUnavailable, ConnectionError) as error:
        print(f"penstock launch: {error}", file=sys.stderr)
        return 1


@contextmanager
def _board(logdir: str | None) -> Iterator[None]:
    """TensorBoard on a folder, if one is named, for as long as the job runs."""
    if logdir is None:
        yield
        return
    command = [sys.executable, "-m", "penstock", "tensorboard", logdir]
    board = subprocess.Popen(bound_command(command))
    try:
        yield
    finally:
        board.terminate()
        board.wait()
