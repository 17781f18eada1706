"""A job for cluster managers: a batch script for Slurm, manifests for Kubernetes."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence

_PORT = 2222


def slurm_script(counts: Mapping[str, int], command: Sequence[str], name: str = "penstock") -> str:
    """A batch script that gives each task of a job a slot of the allocation.

    The nodes of the allocation are dealt out in turn; each task learns its place from TF_CONFIG.
    """
    total = sum(counts.values())
    kinds = json.dumps(dict(counts))
    return f"""#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --ntasks={total}
#SBATCH --requeue
# Tasks listen on their nodes' own addresses, so they need the cluster's credentials:
# `penstock certs FOLDER`, on a file system that all nodes see.
: "${{PENSTOCK_CREDENTIALS:?must name the folder that penstock certs made}}"
export PENSTOCK_CREDENTIALS
export PENSTOCK_SLURM_COUNTS='{kinds}'
export PENSTOCK_SLURM_PORT=$((20000 + SLURM_JOB_ID % 20000))
srun --kill-on-bad-exit=0 bash -c '
  export TF_CONFIG="$(python -m penstock.distributed.launch.slurm)"
  exec {shlex.join(command)}
'
"""


def kubernetes_manifests(
    counts: Mapping[str, int], command: Sequence[str], image: str, name: str = "penstock"
) -> str:
    """Manifests (JSON, which kubectl takes): one headless service, one stateful set for each kind.

    Tasks are found by their stable names; the cluster's credentials are a secret of the job's name.
    """
    cluster = {
        kind: [f"{name}-{kind}-{i}.{name}:{_PORT}" for i in range(count)]
        for kind, count in counts.items()
    }
    items: list[object] = [_service(name)]
    items += [_set_of_tasks(name, kind, cluster, command, image) for kind in counts]
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


def _set_of_tasks(
    name: str, kind: str, cluster: Mapping[str, list[str]], command: Sequence[str], image: str
) -> dict[str, object]:
    labels = {"job": name, "task": kind}
    # The number at the end of a pod's name is the task's index.
    script = (
        f"export TF_CONFIG='{json.dumps({'cluster': cluster})[:-1]}, "
        f'"task": {{"type": "{kind}", "index": \'"${{HOSTNAME##*-}}"\'}}}}\'; '
        f"exec {shlex.join(command)}"
    )
    container = {
        "name": "task",
        "image": image,
        "command": ["bash", "-c", script],
        "ports": [{"containerPort": _PORT}],
        "env": [{"name": "PENSTOCK_CREDENTIALS", "value": "/credentials"}],
        "volumeMounts": [{"name": "credentials", "mountPath": "/credentials", "readOnly": True}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": f"{name}-{kind}"},
        "spec": {
            "serviceName": name,
            "replicas": len(cluster[kind]),
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "containers": [container],
                    "volumes": [{"name": "credentials", "secret": {"secretName": name}}],
                },
            },
        },
    }
