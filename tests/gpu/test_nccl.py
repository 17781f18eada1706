"""Collective ops between tasks that have a GPU each: by NCCL.

NCCL refuses two processes on one GPU of one host. Here both have the same one, and say that they
are different hosts with different GPUs: the values go from process to process by sockets.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
import torch

from penstock.runtime.collectives import has_nccl
from tests.cluster.nursery import free_ports

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available() or not has_nccl(), reason="there is no GPU with NCCL here"
)

TASKS = 2

PROGRAM = """
import json, sys
import penstock as tf
from penstock.distributed import collectives as between_tasks
from penstock.ops import collectives

addresses, task = json.loads(sys.argv[1]), int(sys.argv[2])
backends = []

class Recorded(between_tasks.ProcessGroup):
    def __init__(self, backend, *rest):
        backends.append(backend)
        super().__init__(backend, *rest)

between_tasks.ProcessGroup = Recorded
between_tasks.gpu_identity = lambda place: f"GPU {task}" if place.type == "cuda" else ""
server = tf.train.Server({"worker": addresses}, job_name="worker", task_index=task)
group = len(addresses), 1
with tf.device(f"/job:worker/task:{task}/device:GPU:0"):
    x = tf.constant([10.0 * (task + 1), float(task)])
    made = [
        collectives.all_reduce(x, *group, 1, "Add", "Id"),
        collectives.all_reduce(x, *group, 2, "Max", "Id"),
        collectives.all_gather(x, *group, 3),
        collectives.broadcast_send(x, x.shape, tf.float32, *group, 4)
        if task == 1
        else collectives.broadcast_recv([2], tf.float32, *group, 4),
    ]
config = tf.ConfigProto(device_filters=[f"/job:worker/task:{task}"])
with tf.Session(server.target, config=config) as session:
    for _ in range(3):
        results = session.run(made)
    print(json.dumps({"backends": backends, "results": [each.tolist() for each in results]}))
"""


def test_tasks_with_gpus_exchange_values_by_nccl() -> None:
    addresses = json.dumps([f"localhost:{port}" for port in free_ports(TASKS)])
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, addresses, str(task)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "NCCL_HOSTID": f"host-{task}",
                "NCCL_SOCKET_IFNAME": "lo",
                "NCCL_IB_DISABLE": "1",
            },
        )
        for task in range(TASKS)
    ]
    for process in processes:
        out, log = process.communicate(timeout=300)
        assert process.returncode == 0, log[-3000:]
        told: dict[str, Any] = json.loads(out.splitlines()[-1])
        assert told["backends"] == ["nccl"]
        assert told["results"] == [[30.0, 1.0], [20.0, 1.0], [10.0, 0.0, 20.0, 1.0], [20.0, 1.0]]
