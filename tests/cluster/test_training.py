"""Ways to train on a cluster: replicas in one graph, sharded tables, layers on tasks, clients."""

import json
import threading

import numpy as np
import pytest

import penstock as tf
from tests.cluster.nursery import TestCluster, until

ROWS, WIDTH = 20_000, 16


@pytest.fixture(scope="module")
def cluster(nursery, tmp_path_factory):
    """Two parameter servers and a worker as processes; the other worker is this process."""
    made = TestCluster(nursery, tmp_path_factory.mktemp("cluster"), {"ps": 2, "worker": 2})
    for task in (("ps", 0), ("ps", 1), ("worker", 1)):
        made.start(*task)
    for task in made.tasks.values():
        until(lambda task=task: "serving" in task.text, "start")
    yield made
    made.stop()


@pytest.fixture(scope="module")
def server(cluster):
    made = tf.train.Server(cluster.spec, job_name="worker", task_index=0)
    yield made
    made.stop()


@pytest.fixture
def sess(server):
    with tf.Session(server.target) as made:
        yield made
    tf.Session.reset(server.target)


def traffic(server):
    """Bytes to and from other tasks so far."""
    connections = server.cluster._connections()
    return sum(each.sent + each.received for each in connections)


def test_replicas_in_one_graph(sess):
    with tf.device("/job:ps/task:1"):
        weight = tf.get_variable("w", [], initializer=tf.constant_initializer(4.0))
    optimizer = tf.train.GradientDescentOptimizer(0.25)
    towers = []
    for index, target in enumerate((1.0, 3.0)):
        with tf.device(f"/job:worker/task:{index}"):
            loss = tf.square(weight - target)
            towers.append(optimizer.compute_gradients(loss, [weight])[0][0])
    with tf.device("/job:ps/task:1"):
        update = optimizer.apply_gradients([(tf.add_n(towers) / 2.0, weight)])
    sess.run(weight.initializer)
    for _ in range(30):
        sess.run(update)
    assert sess.run(weight) == pytest.approx(2.0)  # the middle of what the two want


@pytest.mark.parametrize("strategy", ["mod", "div"])
def test_of_a_sharded_table_only_the_rows_move(server, sess, strategy):
    full = np.arange(ROWS * WIDTH, dtype=np.float32).reshape(ROWS, WIDTH) / ROWS
    shards = [full[0::2], full[1::2]] if strategy == "mod" else np.split(full, 2)
    tables = []
    for index in range(2):
        with tf.device(f"/job:ps/task:{index}"):
            tables.append(tf.get_variable(f"table{index}", [ROWS // 2, WIDTH]))
    ids = tf.placeholder(tf.int32, [None])
    with tf.device("/job:worker/task:0"):
        found = tf.nn.embedding_lookup(tables, ids, partition_strategy=strategy)
        loss = 0.5 * tf.reduce_sum(tf.square(found))
    update = tf.train.GradientDescentOptimizer(1.0).minimize(loss, var_list=tables)
    for table, values in zip(tables, shards, strict=True):
        table.load(values, sess)
    chosen = np.array([0, 1, 7, ROWS // 2 - 1, ROWS // 2, ROWS - 1])
    sess.run(found, {ids: chosen})
    sess.run(update, {ids: chosen[:1]})
    before = traffic(server)
    np.testing.assert_array_equal(sess.run(found, {ids: chosen[1:]}), full[chosen[1:]])
    sess.run(update, {ids: chosen[1:]})
    assert traffic(server) - before < 20_000  # the table has more than a million
    np.testing.assert_array_equal(sess.run(found, {ids: chosen}), np.zeros((6, WIDTH)))
    np.testing.assert_array_equal(sess.run(found, {ids: [2, 3]}), full[2:4])


def test_a_partitioned_variable_is_spread_and_learns_by_sampled_softmax(server, sess):
    spread = tf.train.replica_device_setter(cluster=server.server_def.cluster)
    with tf.device(spread):
        weights = tf.get_variable(
            "softmax_w",
            [ROWS, WIDTH],
            initializer=tf.zeros_initializer(),
            partitioner=tf.fixed_size_partitioner(2),
        )
        biases = tf.get_variable("softmax_b", [ROWS], initializer=tf.zeros_initializer())
        labels = tf.placeholder(tf.int64, [None, 1])
        inputs = tf.placeholder(tf.float32, [None, WIDTH])
        losses = tf.nn.sampled_softmax_loss(
            weights, biases, labels, inputs, num_sampled=8, num_classes=ROWS, seed=1
        )
        loss = tf.reduce_mean(losses)
        update = tf.train.AdagradOptimizer(0.5).minimize(loss)
    assert {part.device for part in weights} == {"/job:ps/task:0", "/job:ps/task:1"}
    sess.run(tf.global_variables_initializer())
    feeds = {labels: [[3], [12_345]], inputs: np.eye(2, WIDTH)}
    first = sess.run(loss, feeds)
    before = traffic(server)
    sess.run(update, feeds)
    for _ in range(20):
        sess.run(update, feeds)
    assert sess.run(loss, feeds) < first / 2
    assert traffic(server) - before < 22 * 20_000


def test_layers_on_different_tasks_run_steps_at_once(sess):
    x = tf.placeholder(tf.float32, [None, 8])
    layers = [x]
    for task in ("ps/task:0", "worker/task:1", "worker/task:0"):
        with tf.device(f"/job:{task}"):
            kernel = tf.get_variable(
                task.replace(":", "").replace("/", "_"), initializer=np.eye(8, dtype=np.float32)
            )
            layers.append(tf.matmul(layers[-1], 2.0 * kernel))
    output = layers[-1]
    sess.run(tf.global_variables_initializer())
    results = {}

    def steps(number):
        for i in range(10):
            value = np.full((2, 8), 10.0 * number + i, np.float32)
            results[number, i] = (sess.run(output, {x: value}) == 8.0 * value).all()

    threads = [threading.Thread(target=steps, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 40 and all(results.values())


def test_clients_share_what_a_task_keeps(cluster, server):
    with tf.device("/job:ps/task:0"), tf.container("counts"):
        count = tf.get_variable("count", [], tf.int32, initializer=tf.zeros_initializer())
    up = tf.assign_add(count, 1, use_locking=True)
    targets = [server.target, cluster.target("worker", 1), cluster.target("ps", 1)]
    sessions = [tf.Session(target) for target in targets]
    sessions[0].run(count.initializer)

    def run(sess):
        for _ in range(25):
            sess.run(up)

    threads = [threading.Thread(target=run, args=(sess,)) for sess in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [sess.run(count) for sess in sessions] == [75] * 3
    for sess in sessions:
        sess.close()
    tf.Session.reset(server.target, ["other"])
    with tf.Session(server.target) as sess:
        assert sess.run(count) == 75
    tf.Session.reset(server.target, ["counts"])
    with tf.Session(server.target) as sess, pytest.raises(tf.errors.FailedPreconditionError):
        sess.run(count)


def test_a_session_uses_the_tasks_that_its_filters_match(make_cluster, server_here):
    cluster = make_cluster(ps=1, worker=2)  # of which the other worker is never started
    cluster.start("ps", 0)
    server = server_here(cluster.spec, "worker", 0)
    config = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:0"])
    with tf.Session(server.target, config=config) as sess:
        tasks = {device.name.partition("/device:")[0] for device in sess.list_devices()}
        assert tasks == {"/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0"}
        with tf.device("/job:ps/task:0"):
            v = tf.get_variable("v", [], initializer=tf.ones_initializer())
        sess.run(v.initializer)
        assert sess.run(v) == 1.0


def test_a_backup_worker_can_be_missing(make_cluster):
    """Two gradients make a step: the job goes on and ends when one of three workers is lost."""
    cluster = make_cluster(ps=1, worker=3)
    model = cluster.folder / "model"
    model.mkdir()
    settings = {"sync": 2, "save_steps": 1000}
    workers = [("worker", index) for index in range(3)]
    for task in (("ps", 0), *workers):
        cluster.start(*task, "train", str(model), settings)
    for task in workers:
        until(lambda task=task: "step" in cluster.tasks[task].text, "step")
    cluster.tasks["worker", 2].kill()
    written = model / "last_step.written"
    written.write_text("60")
    written.rename(model / "last_step")  # which workers read at any time
    assert [cluster.tasks[task].wait() for task in workers[:2]] == [0, 0], cluster.texts()
    assert "result" in cluster.tasks["worker", 0].text


def test_keras_on_workers_that_reduce_together(make_cluster):
    """The values are those of TensorFlow 1.15: the first worker's initial ones are those of all."""
    cluster = make_cluster(worker=2)
    tasks = [cluster.start("worker", index, "fit_keras") for index in range(2)]
    for task in tasks:
        assert task.wait() == 0, cluster.texts()
        told = json.loads(task.text.splitlines()[-1])
        assert told["history"]["loss"] == pytest.approx([0.465588, 0.059135, 0.043781], rel=1e-3)
        mean_errors = told["history"]["mean_absolute_error"]
        assert mean_errors == pytest.approx([0.475745, 0.204689, 0.176949], rel=1e-3)
        assert told["sums"] == pytest.approx([2.358909, -0.055725, 0.334562, 0.186482], rel=1e-3)
        assert told["evaluated"] == pytest.approx([0.031023, 0.146833], rel=1e-3)


def test_processes_of_multiprocessing_say_when_the_job_is_over(make_cluster):
    cluster = make_cluster(ps=1, worker=1)
    parent = cluster.start("worker", 0, "all_in_children")
    assert parent.wait() == 0
    assert "count 7\n" in parent.text
    assert "ended 1 0 0\n" in parent.text, parent.text
