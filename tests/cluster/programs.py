"""What the tasks of test clusters run: each function is the whole program of one task.

A program tells the test what happens by lines of its output, which are kept in a file.
"""

from __future__ import annotations

import json
import multiprocessing
import os
from pathlib import Path

import numpy as np

import penstock as tf

TRUTH = np.array([1.0, -2.0, 3.0, 0.5], np.float32)
OFFSET = 0.75


def say(*words):
    """Writes a line at once, whole, even if the process is killed next."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def serve(spec, job, index):
    """A task that only serves, until the job is over."""
    server = tf.train.Server(spec, job_name=job, task_index=index)
    say("serving")
    server.join()
    say("a parameter server has come back from join")


def wait_for_nothing(spec, job, index):
    """A client in a step that waits on a parameter server, without end."""
    server = tf.train.Server(spec, job_name=job, task_index=index)
    with tf.device("/job:ps/task:0"):
        taken = tf.FIFOQueue(1, tf.float32, shapes=[()]).dequeue()
    with tf.train.MonitoredTrainingSession(server.target) as sess:
        say("waiting")
        sess.run(taken)


class _Diary(tf.train.SessionRunHook):
    """Tells of new sessions, with the checkpoint that each begins from, and of steps."""

    def __init__(self, folder):
        self._folder = folder

    def begin(self):
        self._step = tf.train.get_or_create_global_step()

    def after_create_session(self, session, coord):
        saved = tf.train.latest_checkpoint(self._folder)
        say("session", session.run(self._step), saved.rpartition("-")[2] if saved else 0)

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        say("step", run_values.results)


class _StopWhenAsked(tf.train.SessionRunHook):
    """Ends the training behind the step that a file names, in all workers.

    Of synchronous workers one may give both gradients of a step, if the other one is late for its
    token: until that step is over neither can do without it.
    """

    def __init__(self, folder):
        self._file = Path(folder, "last_step")

    def begin(self):
        self._step = tf.train.get_or_create_global_step()

    def after_run(self, run_context, run_values):
        if self._file.exists():
            last = int(self._file.read_text())
            if run_context.session.run(self._step) > last:
                run_context.request_stop()


def _regression():
    """A linear model whose variables are spread over the parameter servers."""
    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.placeholder(tf.float32, [None])
    weights = tf.get_variable("weights", [4, 1], initializer=tf.zeros_initializer())
    offset = tf.get_variable("offset", [], initializer=tf.zeros_initializer())
    loss = tf.losses.mean_squared_error(y, tf.squeeze(tf.matmul(x, weights), 1) + offset)
    return x, y, weights, offset, loss


def _batch(seed):
    inputs = np.random.RandomState(seed % 2**32).randn(16, 4).astype(np.float32)
    return inputs, inputs @ TRUTH + OFFSET


def train(spec, job, index, folder, settings):
    """Replicas of a linear model, asynchronous or, by `settings`, synchronous."""
    if job == "ps":
        return serve(spec, job, index)
    server = tf.train.Server(spec, job_name=job, task_index=index)
    is_chief = index == 0
    workers = len(spec["worker"])
    with tf.device(
        tf.train.replica_device_setter(worker_device=f"/job:worker/task:{index}", cluster=spec)
    ):
        step = tf.train.get_or_create_global_step()
        x, y, weights, offset, loss = _regression()
        optimizer = tf.train.MomentumOptimizer(0.05, 0.5)
        hooks = [_Diary(folder), _StopWhenAsked(folder)]
        if settings.get("sync"):
            optimizer = tf.train.SyncReplicasOptimizer(optimizer, settings["sync"], workers)
            hooks.append(
                optimizer.make_session_run_hook(is_chief, num_tokens=settings.get("tokens", -1))
            )
        train_op = optimizer.minimize(loss, global_step=step)
        final = tf.train.FinalOpsHook([weights, offset])
    filters = ["/job:ps", f"/job:worker/task:{index}"]
    with tf.train.MonitoredTrainingSession(
        server.target,
        is_chief,
        checkpoint_dir=folder,
        hooks=[*hooks, final] if is_chief else hooks,
        save_checkpoint_steps=settings.get("save_steps", 20),
        save_summaries_steps=None,
        log_step_count_steps=None,
        config=tf.ConfigProto(device_filters=filters),
    ) as sess:
        while not sess.should_stop():

            def one_step(step_context):
                # Which batch depends on the step alone, so that a resumed run repeats it.
                number = step_context.session.run(step)
                inputs, targets = _batch(int(number))
                return step_context.run_with_hooks(train_op, {x: inputs, y: targets})

            sess.run_step_fn(one_step)
    if is_chief:
        say("result", *(value.tobytes().hex() for value in final.final_ops_values))
    say("done")


def fit_keras(spec, job, index):
    """A worker of a Keras model with replicas in all workers; each has its own random numbers."""
    task = {"type": job, "index": index}
    os.environ["TF_CONFIG"] = json.dumps({"cluster": spec, "task": task})
    tf.set_random_seed(index)
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    x = np.random.RandomState(0).rand(64, 3).astype("f")
    data = tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True))).batch(16).repeat()
    with strategy.scope():
        layers = [tf.keras.layers.Dense(4, input_shape=(3,)), tf.keras.layers.Dense(1)]
        model = tf.keras.Sequential(layers)
        model.compile(tf.keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    history = model.fit(data, epochs=3, steps_per_epoch=4, verbose=0).history
    sums = [float(weights.sum()) for weights in model.get_weights()]
    evaluated = model.evaluate(data, steps=4, verbose=0)
    say(json.dumps({"history": history, "sums": sums, "evaluated": evaluated}))


def all_in_children(spec, job, index):
    """A whole job in processes of `multiprocessing`; the first start of the worker fails."""
    forked = multiprocessing.get_context("fork")
    ps, failing, worker = (
        forked.Process(target=_child, args=(spec, *given))
        for given in (("ps", False), ("worker", True), ("worker", False))
    )
    ps.start()
    for each in (failing, worker):
        each.start()
        each.join()
    ps.join(30)
    say("ended", failing.exitcode, worker.exitcode, ps.exitcode)
    ps.kill()


def _child(spec, job, fails):
    server = tf.train.Server(spec, job_name=job, task_index=0)
    if job == "ps":
        server.join()
    with tf.device("/job:ps/task:0"):
        count = tf.get_variable("count", [], tf.int32, tf.constant_initializer(7))
    with tf.Session(server.target) as sess:
        if fails:
            sess.run(count.initializer)
            raise ValueError("on purpose")
        say("count", sess.run(count))
