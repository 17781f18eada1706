"""Many steps: what a cluster uses does not grow with them."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import penstock as tf

STEPS = int(os.environ.get("PENSTOCK_TEST_STEPS", "2000"))  # `make soak`: 100,000
WARM_UP = 500
AT_ONCE = 3  # steps, until it is warm
PAGE = os.sysconf("SC_PAGE_SIZE")


def used(pid):
    """Threads, open files and bytes of memory of a process."""
    process = Path("/proc", str(pid))
    pages = int((process / "statm").read_text().split()[1])
    return len(os.listdir(process / "task")), len(os.listdir(process / "fd")), pages * PAGE


def test_threads_files_and_memory_stay_as_they_are(make_cluster, server_here):
    cluster = make_cluster(ps=1, worker=2)
    tasks = [cluster.start("ps", 0), cluster.start("worker", 1)]
    with tf.device("/job:ps/task:0"):
        weights = tf.get_variable("w", [64], initializer=tf.zeros_initializer())
    x = tf.placeholder(tf.float32, [64])
    with tf.device("/job:worker/task:1"):
        loss = tf.reduce_sum(tf.square(weights - x))
    update = tf.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=[weights])
    server = server_here(cluster.spec, "worker", 0)
    pids = [os.getpid(), *(task.pid for task in tasks)]
    goal = np.arange(64, dtype=np.float32)
    with tf.Session(server.target) as sess:
        sess.run(weights.initializer)
        # Threads are as many as have once had something to do at once: here more than in any step.
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(lambda _: sess.run([update, loss], {x: goal}), range(WARM_UP)))
        before = [used(pid) for pid in pids]
        for _ in range(STEPS):
            sess.run([update, loss], {x: goal})
        np.testing.assert_allclose(sess.run(weights), goal, rtol=1e-5)
        for pid, (threads, files, memory) in zip(pids, before, strict=True):
            threads_now, files_now, memory_now = used(pid)
            assert threads_now <= threads + 2  # as many as parts of steps have run at once
            assert files_now <= files + 2  # the bells of those threads
            assert memory_now < memory + (16 << 20)
