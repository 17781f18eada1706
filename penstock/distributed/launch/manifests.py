"""A job for cluster managers: a batch script for Slurm, manifests for Kubernetes."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence

from penstock.distributed.launch.job import Job, Task

_PORT = 2222
_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")  # of services and hosts
_LONGEST_NAME = 63
_LONGEST_KIND = "evaluator"
_INDEX = "${HOSTNAME##*-}"  # the number at the end of a pod's name, which is its task's


def slurm_script(
    counts: Mapping[str, int],
    command: Sequence[str],
    name: str = "penstock",
    *,
    evaluator: bool = False,
    with_flags: bool = False,
    restarts: int = 3,
) -> str:
    """A batch script that gives each task of a job a slot of the allocation.

    A task learns its place from TF_CONFIG, with `with_flags` from flags, too. One that fails is
    started again in its slot; one that fails too often ends the job.
    """
    slots = {**counts, **({"evaluator": 1} if evaluator else {})}
    task = ["python", "-m", "penstock.distributed.launch.slurm", "--restarts", str(restarts)]
    task += [*(["--flags"] if with_flags else []), *command]
    return f"""#!/bin/bash
#SBATCH --job-name={shlex.quote(name)}
#SBATCH --ntasks={sum(slots.values())}
#SBATCH --requeue
# Tasks listen on their nodes' own addresses, so they need the cluster's credentials:
# `penstock certs FOLDER NODE ...`, with the names of all nodes that the job may get, on a file
# system that they all see.
: "${{PENSTOCK_CREDENTIALS:?must name the folder that penstock certs made}}"
export PENSTOCK_CREDENTIALS
export PENSTOCK_SLURM_COUNTS='{json.dumps(slots)}'
export PENSTOCK_SLURM_PORT=$((20000 + SLURM_JOB_ID % 12000))
# Tasks end one after the other (--wait); which is where depends on the distribution.
srun --distribution=block --kill-on-bad-exit=1 --wait=0 {shlex.join(task)}
"""


def kubernetes_job(counts: Mapping[str, int], name: str, *, evaluator: bool = False) -> Job:
    """The job with the addresses that its pods have within Kubernetes.

    ValueError if pods can't have names that begin so.
    """
    longest = _LONGEST_NAME - len(f"-{_LONGEST_KIND}-{max(counts.values(), default=1)}")
    if not _NAME.fullmatch(name) or len(name) > longest:
        raise ValueError(
            f"Kubernetes has no name {name!r}: it takes lower-case letters, digits and '-', "
            f"beginning with a letter and not ending with '-', here {longest} at most"
        )
    addresses = {
        kind: [f"{name}-{kind}-{i}.{name}:{_PORT}" for i in range(count)]
        for kind, count in counts.items()
    }
    return Job(addresses, evaluator=evaluator)


def kubernetes_manifests(
    job: Job,
    command: Sequence[str],
    image: str,
    name: str = "penstock",
    *,
    with_flags: bool = False,
    restarts: int = 3,
) -> str:
    """Manifests (JSON, which kubectl takes): one headless service, one indexed job for each kind.

    Tasks are found by their stable names; the cluster's credentials are a secret of the job's name.
    A task that fails is started again, one that has come to its end is not.
    """
    sizes: dict[str, int] = {}
    for task in job.tasks:
        sizes[task.kind] = sizes.get(task.kind, 0) + 1
    items: list[object] = [_service(name)]
    for kind, size in sizes.items():
        script = _script(job, kind, command, with_flags=with_flags)
        items.append(_indexed_job(name, kind, size, script, image, restarts))
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=2) + "\n"


def _service(name: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": {"job": name},
            "ports": [{"port": _PORT}],
        },
    }


def _script(job: Job, kind: str, command: Sequence[str], *, with_flags: bool) -> str:
    """What a pod's shell runs; the index of its task is in its name."""
    config = json.loads(job.tf_config(Task(kind, 0)))
    config["task"]["index"] = _INDEX
    text = shlex.quote(json.dumps(config)).replace(f'"{_INDEX}"', f"'{_INDEX}'")
    flags = job.flags(Task(kind, 0))[:-1] if with_flags else []
    last = f" --task_index={_INDEX}" if with_flags else ""
    return f"export TF_CONFIG={text}; exec {shlex.join([*command, *flags])}{last}"


def _indexed_job(
    name: str, kind: str, size: int, script: str, image: str, restarts: int
) -> dict[str, object]:
    container = {
        "name": "task",
        "image": image,
        # Kubernetes replaces $(NAME) in it, and takes $$ for $.
        "command": ["bash", "-c", script.replace("$", "$$")],
        "ports": [{"containerPort": _PORT}],
        "env": [{"name": "PENSTOCK_CREDENTIALS", "value": "/credentials"}],
        "volumeMounts": [{"name": "credentials", "mountPath": "/credentials", "readOnly": True}],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": f"{name}-{kind}"},
        "spec": {
            "completionMode": "Indexed",  # gives each pod a stable name
            "completions": size,
            "parallelism": size,
            "backoffLimit": restarts * size,
            "template": {
                "metadata": {"labels": {"job": name, "task": kind}},
                "spec": {
                    "subdomain": name,
                    "restartPolicy": "OnFailure",
                    "containers": [container],
                    "volumes": [{"name": "credentials", "secret": {"secretName": name}}],
                },
            },
        },
    }
