"""Times of operations and transfers: estimated from shapes, or taken from traces."""

import numpy as np
import pytest

import penstock as tf
from penstock import proto
from penstock.devices import DeviceSpec
from penstock.ir.step_graph import Edge
from penstock.passes.prune import prune
from penstock.placement.cost_model import LOOP_ITERATIONS, CostModel, Speed
from penstock.placement.work import Sizes, work_of

COUNTS = CostModel(speeds={"CPU": Speed(flops=1.0, bytes=float("inf"), overhead=0.0)})


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def node_of(tensor, feeds=()):
    step = prune(list(feeds), [tensor], [])
    return step.fetches[0].node


def fed(*shape):
    return tf.placeholder(tf.float32, shape)


FLOPS = {
    "matmul": (lambda: tf.matmul(fed(3, 4), fed(4, 5)), 2 * 3 * 4 * 5),
    "matmul of a transposed": (
        lambda: tf.matmul(fed(4, 3), fed(4, 5), transpose_a=True),
        2 * 3 * 4 * 5,
    ),
    "batch of matmuls": (lambda: tf.matmul(fed(7, 3, 4), fed(7, 4, 5)), 7 * 2 * 3 * 4 * 5),
    "convolution": (
        lambda: tf.nn.conv2d(fed(2, 8, 8, 3), fed(3, 3, 3, 16), [1, 1, 1, 1], "SAME"),
        2 * (3 * 3 * 3) * (2 * 8 * 8 * 16),
    ),
    "sum of tensors": (lambda: fed(6, 2) + fed(6, 2), 24),
    "reduction": (lambda: tf.reduce_sum(fed(100), axis=0), 101),
    "inverse": (lambda: tf.matrix_inverse(fed(10, 10)), 10**3),
    "nothing but a new shape": (lambda: tf.reshape(fed(6, 2), [12]), 0),
    "a part": (lambda: fed(1000, 2)[0], 0),
    "a question about a shape": (lambda: tf.shape(fed(1000, 2)), 0),
}


@pytest.mark.parametrize(("build", "flops"), FLOPS.values(), ids=FLOPS.keys())
def test_operations_by_their_shapes(build, flops):
    node = node_of(build())
    assert work_of(node, Sizes(32)).flops == flops
    assert COUNTS.time(node, "CPU") == flops


def test_both_gradients_of_a_convolution_take_as_long_as_itself():
    x, w = fed(2, 8, 8, 3), fed(3, 3, 3, 16)
    y = tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME")
    times = {COUNTS.time(node_of(t), "CPU") for t in (y, *tf.gradients(y, [x, w]))}
    assert times == {2 * 27 * 2048}


def test_an_unknown_size_is_guessed():
    node = node_of(tf.matmul(fed(None, 4), fed(4, 5)))
    assert COUNTS.time(node, "CPU") == 32 * 2 * 4 * 5
    assert CostModel(unknown_size=7).bytes(Edge(node, 0)) == 7 * 5 * 4


def test_memory_limits_what_computes_little():
    model = CostModel(speeds={"CPU": Speed(flops=1e12, bytes=1e3, overhead=0.5)})
    node = node_of(fed(100) + fed(100))
    assert model.time(node, "CPU") == pytest.approx(0.5 + 3 * 400 / 1e3)


def test_a_node_of_a_loop_runs_several_times():
    node = node_of(tf.exp(fed(3)))
    assert CostModel().time(node, "CPU", loops=2) == pytest.approx(
        CostModel().time(node, "CPU") * LOOP_ITERATIONS**2
    )


def test_a_device_type_of_a_user_is_as_fast_as_a_cpu():
    node = node_of(tf.exp(fed(3)))
    assert CostModel().time(node, "TOY") == CostModel().time(node, "CPU")


def test_the_further_the_slower():
    here = DeviceSpec.from_string("/job:a/replica:0/task:0/device:CPU:0")
    ways = [
        here,
        here.replace(device_index=1),
        here.replace(device_type="GPU"),
        here.replace(task=1),
    ]
    times = [CostModel().link(here, there).seconds(1e6) for there in ways]
    assert times[0] == 0 and times == sorted(times) and len(set(times)) == 4


# Measured -------------------------------------------------------------------------------------


def stats_of(*rows):
    """StepStats of (device, node, start, end in microseconds)."""
    stats = proto.StepStats()
    for device, name, start, end in rows:
        node = stats.dev_stats.add(device=device).node_stats.add(node_name=name)
        node.op_start_rel_micros, node.op_end_rel_micros = start, end
    return stats


CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
GPU = "/job:localhost/replica:0/task:0/device:GPU:0"


def test_what_was_measured_is_used_for_its_device_type():
    node = node_of(tf.exp(fed(3), name="y"))
    model = CostModel.from_step_stats(stats_of((CPU, "y", 100, 350)))
    assert model.time(node, "CPU") == pytest.approx(250e-6)
    assert model.time(node, "CPU", loops=1) == pytest.approx(250e-6)
    assert model.time(node, "GPU") == CostModel().time(node, "GPU")


def test_iterations_add_up_and_runs_are_averaged():
    node = node_of(tf.exp(fed(3), name="y"))
    first = stats_of((CPU, "y", 0, 100), (CPU, "y", 0, 300))
    second = stats_of((CPU, "y", 0, 200))
    model = CostModel.from_step_stats(first, second)
    assert model.time(node, "CPU") == pytest.approx(300e-6)


def test_rows_that_are_no_devices_do_not_count():
    node = node_of(tf.exp(fed(3), name="y"))
    stats = stats_of((GPU, "y", 0, 20), (f"{GPU}/stream:all", "y", 0, 5000))
    assert CostModel.from_step_stats(stats).time(node, "GPU") == pytest.approx(20e-6)


def test_a_trace_of_a_run():
    x = tf.placeholder(tf.float32, [None, 8])
    y = tf.matmul(x, tf.ones([8, 8]), name="y")
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        sess.run(y, {x: np.ones([5, 8])}, options, metadata)
    model = CostModel.from_step_stats(metadata.step_stats)
    assert model.measured["y", "CPU"] > 0
    assert model.measured["ones", "CPU"] == 0  # a constant has no line in the plan
    assert model.bytes(Edge(node_of(y), 0)) == 5 * 8 * 4


def test_no_traces_at_all():
    with pytest.raises(ValueError, match="at least one"):
        CostModel.from_step_stats()
