"""What a graph leaves open has one place in a cluster, whichever task a session is on."""

import pytest
import torch

import penstock as tf
from penstock.distributed.cluster_runtime import _preferred
from tests.distributed.in_process_cluster import InProcessCluster

TASKS = ["zeta:0", "worker:0", "worker:1", "ps:0", "ps:1"]


@pytest.mark.parametrize("master", [0, 2])
def test_nodes_without_a_device_are_on_the_first_task_by_name(master):
    with tf.Graph().as_default(), InProcessCluster(TASKS) as cluster:
        x = tf.placeholder(tf.float32, [])
        fetches = [tf.exp(x, name="anywhere")]
        with tf.device("/job:worker"):
            fetches.append(tf.sin(x, name="job_worker"))
        with tf.device("/task:1"):
            fetches.append(tf.cos(x, name="task_1"))
        runtime = cluster.runtime(master)
        metadata = tf.RunMetadata()
        step = runtime.compile([x], fetches, [])
        step.run_with_options([torch.ones(())], tf.RunOptions(trace_level=3), metadata)
        runtime.close()
    places = {
        node.node_name: device.device
        for device in metadata.step_stats.dev_stats
        for node in device.node_stats
    }
    assert places["anywhere"] == "/job:ps/replica:0/task:0/device:CPU:0"
    assert places["job_worker"] == "/job:worker/replica:0/task:0/device:CPU:0"
    assert places["task_1"] == "/job:ps/replica:0/task:1/device:CPU:0"


def test_gpus_come_first():
    cpu, gpu = "/job:ps/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:0/device:GPU:0"
    assert _preferred([cpu, gpu]) == [gpu, cpu]
