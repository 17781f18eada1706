"""The fusion tier: regions of hot steps, compiled in the background, with the same results."""

import logging
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.ir import registry
from penstock.passes import fusion
from penstock.runtime.fusion import inductor, regions
from tests.runtime.test_plan_equals_executor import RandomGraph

SOON = tf.ConfigProto()
SOON.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1


@pytest.fixture(autouse=True)
def graph(monkeypatch):
    monkeypatch.delenv("PENSTOCK_FUSION", raising=False)
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def no_compiler(monkeypatch):
    """Regions run as the ATen calls of their source, which is all that a compiler gets to see."""

    def interpreted(source, threads):
        function = inductor.evaluated(source.text)

        def run(values):
            for value, form in zip(values, source.inputs, strict=True):
                assert tuple(value.shape) == form.shape and tuple(value.stride()) == form.stride
            # A compiled region gives memory of its own.
            return [value.clone() for value in function(*values)]

        return run

    monkeypatch.setattr(fusion, "LEAST", 1)
    monkeypatch.setattr(regions, "missing_compiler", lambda kind: None)
    monkeypatch.setattr(regions, "_compile_elsewhere", lambda sources, threads: True)
    monkeypatch.setattr(regions, "compiled_function", interpreted)
    monkeypatch.setattr(regions, "_ratio", lambda made, plain, inputs: 0.5)


def heated(session, fetches, feeds=None):
    """Runs until the step is hot and compiled; returns the step and the results of these runs."""
    step = session._prepare(None, fetches, feeds or {}).step
    warming = step.warming
    results = [session.run(fetches, feeds) for _ in range(3)]
    if warming is not None:
        warming.wait()
    return step, results


def regions_of(step):
    return [node for graph in step.fused for node in graph.nodes if node.type == "_Fused"]


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed, no_compiler):
    program = RandomGraph(seed, size=60)
    fetches, feeds = program.random_run()
    outcomes = []
    for config in (SOON, None):
        with tf.Session(graph=program.graph, config=config) as session:
            session.run(program.init)
            _, results = heated(session, fetches, feeds)
            results += [session.run(fetches, feeds) for _ in range(2)]
            results.append(session.run([v.value() for v in program.variables]))
            outcomes.append(results)
    for mine, theirs in zip(*outcomes, strict=True):
        for a, b in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(a, b)


def test_random_programs_have_regions(no_compiler):
    """What the test above compares is not empty."""
    count = 0
    for seed in range(10):
        program = RandomGraph(seed, size=60)
        fetches, feeds = program.random_run()
        with tf.Session(graph=program.graph, config=SOON) as session:
            session.run(program.init)
            count += len(regions_of(heated(session, fetches, feeds)[0]))
    assert count > 10


def recurrent_network(steps=5):
    tf.set_random_seed(3)
    x = tf.placeholder(tf.float32, [4, None, 6])
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(8) for _ in range(2)])
    outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(outputs - 0.5))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    data = np.random.default_rng(0).standard_normal([4, steps, 6]).astype(np.float32)
    return x, loss, train, data


def losses_of(config, shorter=True):
    x, loss, train, data = recurrent_network()
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        step, results = heated(session, [loss, train], {x: data})
        results += [session.run([loss, train], {x: data}) for _ in range(3)]
        if shorter:  # other shapes than those that were compiled for
            results.append(session.run([loss, train], {x: data[:, :2]}))
        text = str(tf.explain([loss, train], [x], session))
    return step, [found[0] for found in results], text


def test_loops(no_compiler, graph):
    step, losses, text = losses_of(SOON)
    with tf.Graph().as_default():
        _, expected, plain_text = losses_of(None)
    np.testing.assert_allclose(losses, expected, rtol=1e-6)
    assert "compiled regions:" in text and "Sigmoid 'rnn/while/" in text
    assert "compiled regions:" not in plain_text
    loop = next(node for node in step.fused[0].nodes if node.type == "_While").attrs["loop"]
    assert any(node.type == "_Fused" for node in loop.body.nodes)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch's own modules
def test_compiled(monkeypatch):
    """The whole way, with Inductor and a compiler."""
    monkeypatch.setattr(regions, "_ratio", lambda made, plain, inputs: 0.5)
    if missing := inductor.missing_compiler("cpu"):
        pytest.skip(f"needs {missing}")
    x = tf.placeholder(tf.float32, [64, 512])
    w = tf.Variable(np.linspace(-1, 1, 512, dtype=np.float32))
    y = tf.tanh(x * w) * tf.sigmoid(x + w) + tf.exp(-tf.square(x))
    loss = tf.reduce_mean(y, axis=1)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    data = np.random.default_rng(0).standard_normal([64, 512]).astype(np.float32)
    outcomes = []
    for config in (SOON, None):
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            step, _ = heated(session, [loss, train], {x: data})
            outcomes.append([session.run([loss, train], {x: data})[0] for _ in range(3)])
            outcomes[-1].append(session.run(w))
            if config is SOON:
                assert regions_of(step)
    for mine, theirs in zip(*outcomes, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)


def test_slower_regions_are_not_used(no_compiler, monkeypatch):
    monkeypatch.setattr(regions, "_ratio", lambda made, plain, inputs: 1.2)
    step, _, text = losses_of(SOON)
    assert not step.fused and "compiled regions:" not in text


def test_wrong_regions_are_not_used(no_compiler, monkeypatch, caplog):
    right = regions.compiled_function

    def wrong(source, threads):
        function = right(source, threads)
        return lambda values: [value + 1 for value in function(values)]

    monkeypatch.setattr(regions, "compiled_function", wrong)
    with caplog.at_level(logging.INFO, "penstock.fusion"):
        step, _, _ = losses_of(SOON)
    assert not step.fused and "gives other values" in caplog.text


def test_a_failing_compiler_changes_nothing(no_compiler, monkeypatch):
    def fail(source, threads):
        raise RuntimeError("internal compiler error")

    monkeypatch.setattr(regions, "compiled_function", fail)
    step, losses, _ = losses_of(SOON)
    assert not step.fused and step.warming is None and losses[-2] < losses[0]


def test_switches(monkeypatch):
    x = tf.placeholder(tf.float32, [3])
    y = tf.exp(tf.exp(tf.exp(x)))
    off = tf.ConfigProto()
    off.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.OFF
    with tf.Session(config=off) as session:
        assert session._prepare(None, y, {x: [1, 2, 3]}).step.warming is None
    with tf.Session() as session:
        assert session._prepare(None, y, {x: [1, 2, 3]}).step.warming is not None
        assert session._prepare(None, x + 1, {x: [1, 2, 3]}).step.warming is None  # nothing to fuse
    monkeypatch.setenv("PENSTOCK_FUSION", "0")
    with tf.Session(config=SOON) as session:
        assert session._prepare(None, y, {x: [1, 2, 3]}).step.warming is None


def test_traces_show_the_nodes(no_compiler):
    x = tf.placeholder(tf.float32, [2, 3])
    y = tf.tanh(tf.exp(tf.square(x)) + 1.0, name="last")
    with tf.Session(config=SOON) as session:
        step, _ = heated(session, y, {x: np.ones([2, 3])})
        assert len(regions_of(step)) == 1
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        session.run(y, {x: np.ones([2, 3])}, options, metadata)
    names = {
        node.node_name for device in metadata.step_stats.dev_stats for node in device.node_stats
    }
    assert {"Square", "Exp", "last"} <= names


def test_views_out_of_a_region_are_copies_behind_it(no_compiler):
    x = tf.placeholder(tf.float32, [2, 3])
    y = tf.exp(tf.square(x) + 1.0)
    turned = tf.transpose(y)
    z = tf.tanh(turned) * 2.0
    with tf.Session(config=SOON) as session:
        step, results = heated(session, [turned, z, y], {x: np.eye(2, 3)})
        again = session.run([turned, z, y], {x: np.eye(2, 3)})
    (region,) = regions_of(step)
    assert len(region.dtypes) == 2 and [n.type for n in step.fused[0].nodes].count("Transpose") == 1
    for mine, theirs in zip(again, results[0], strict=True):
        np.testing.assert_array_equal(mine, theirs)


def only_region(step):
    (region,) = regions_of(step)
    return region, [node.type for node in region.attrs["region"].nodes]


def same_as_before(session, step, results, fetches, feeds):
    """What the compiled step gives, which is what the kernels gave."""
    assert step.fused
    found = session.run(fetches, feeds)
    for mine, theirs in zip(found, results[0], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_what_comes_later_joins_a_region(no_compiler):
    """A matrix product in between does not end it for those who need nothing of the product."""
    x, w = tf.placeholder(tf.float32, [2, 3]), tf.constant(np.ones([3, 4]), tf.float32)
    y = tf.exp(tf.square(x))
    product = tf.matmul(y, w)
    z = tf.tanh(y) + tf.sqrt(y)
    fetches = [product * 2.0, z]
    with tf.Session(config=SOON) as session:
        step, results = heated(session, fetches, {x: np.eye(2, 3)})
        same_as_before(session, step, results, fetches, {x: np.eye(2, 3)})
        types = [node.type for node in step.fused[0].nodes]
    first = regions_of(step)[0]
    assert {"Square", "Tanh", "Sqrt"} <= {node.type for node in first.attrs["region"].nodes}
    assert types.index("_Fused") < types.index("MatMul")


def test_what_is_large_joins_no_earlier_region(no_compiler, monkeypatch):
    monkeypatch.setattr(fusion, "SMALL", 16)
    x, w = tf.placeholder(tf.float32, [2, 3]), tf.constant(np.ones([3, 4]), tf.float32)
    y = tf.exp(tf.square(x))
    fetches = [tf.matmul(y, w), tf.tanh(y) + tf.sqrt(y)]
    with tf.Session(config=SOON) as session:
        step, results = heated(session, fetches, {x: np.eye(2, 3)})
        same_as_before(session, step, results, fetches, {x: np.eye(2, 3)})
    inside = [{n.type for n in region.attrs["region"].nodes} for region in regions_of(step)]
    assert not any({"Square", "Tanh"} <= types for types in inside)


def test_variables_are_read_after_their_updates(no_compiler):
    v = tf.Variable([1.0, 2.0], use_resource=True)
    w = tf.Variable([1.0, 2.0], use_resource=False)
    x = tf.placeholder(tf.float32, [2])
    step_size = tf.exp(tf.square(x)) * 0.1
    with tf.control_dependencies([v.assign_add(step_size), w.assign_add(step_size)]):
        later = [tf.sqrt(v.read_value()) + tf.tanh(x) * 2.0, tf.sqrt(w.read_value()) + tf.sin(x)]
    outcomes = []
    for config in (SOON, None):
        with tf.Session(config=config) as session:
            session.run([v.initializer, w.initializer])
            step, results = heated(session, later, {x: [0.5, 1.0]})
            outcomes.append([*results, session.run(later, {x: [0.5, 1.0]})])
            assert bool(step.fused) == (config is SOON)
    np.testing.assert_allclose(*outcomes, rtol=1e-6)


@pytest.mark.parametrize(
    "shapes", [([5, 4], [4, 1]), ([5, 1], [1, 4]), ([1, 4], [4, 3])], ids=["sum", "outer", "row"]
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch's own modules
def test_thin_products(shapes, no_compiler):
    a, b = (tf.placeholder(tf.float32, shape) for shape in shapes)
    fetches = [tf.exp(tf.matmul(tf.square(a), b, name="product")) + 1.0]
    rng = np.random.default_rng(0)
    feeds = {each: rng.random(each.shape.as_list(), np.float32) for each in (a, b)}
    with tf.Session(config=SOON) as session:
        step, results = heated(session, fetches, feeds)
        same_as_before(session, step, results, fetches, feeds)
    assert "MatMul" in only_region(step)[1]
    values = [torch.from_numpy(each) for each in feeds.values()]
    torch.testing.assert_close(inductor._thin_product(*values), values[0] @ values[1])
    assert inductor._thin_product(torch.ones(2, 2), torch.ones(2, 2)) is NotImplemented


def test_constants_of_one_number_are_part_of_a_region(no_compiler):
    x = tf.placeholder(tf.float32, [2, 3])
    several = tf.constant([[1.0, 2.0, 3.0]])
    y = tf.where(x > 0.5, tf.fill([2, 3], 0.25), tf.zeros([2, 3])) * several + 1.0
    with tf.Session(config=SOON) as session:
        step, results = heated(session, [y], {x: np.eye(2, 3)})
        same_as_before(session, step, results, [y], {x: np.eye(2, 3)})
    region, _ = only_region(step)
    assert sorted(edge.node.type for edge in region.inputs) == ["Const", "_Feed"]


@pytest.mark.parametrize(
    ("value", "uniform"),
    [([0.5, 0.5], True), ([0.5, 0.25], False), ([0.0, -0.0], False), ([], False)],
)
def test_constants_of_one_number(value, uniform):
    for each in (np.array(value, np.float32), torch.tensor(value)):
        assert fusion._is_uniform(SimpleNamespace(attrs={"value": each})) == uniform


def test_a_region_gives_the_only_view_of_a_value_itself(no_compiler):
    x = tf.placeholder(tf.float32, [2, 3])
    y = tf.transpose(tf.exp(tf.square(x) + 1.0))
    with tf.Session(config=SOON) as session:
        step, results = heated(session, [y], {x: np.eye(2, 3)})
        same_as_before(session, step, results, [y], {x: np.eye(2, 3)})
    assert "Transpose" in only_region(step)[1]
    assert "Transpose" not in [node.type for node in step.fused[0].nodes]


def test_a_long_chain_of_scalars_is_one_region(no_compiler):
    x = value = tf.placeholder(tf.float32, [])
    for _ in range(100):
        value = value * 0.99 + 0.01
    with tf.Session(config=SOON) as session:
        step, results = heated(session, [value], {x: 3.0})
        same_as_before(session, step, results, [value], {x: 3.0})
    assert len(only_region(step)[0].inputs) == 1


X = np.linspace(0.1, 0.9, 12, dtype=np.float32).reshape(3, 4)
#: Calls of the ops that take something else than one or two tensors of numbers.
CALLS = {
    "AddN": lambda x: tf.add_n([x, x * 2]),
    "BiasAdd": lambda x: tf.nn.bias_add(x, x[0] + 0.0),
    "BiasAddGrad": lambda x: tf.raw_ops.BiasAddGrad(out_backprop=x),
    "BiasAddV1": lambda x: tf.raw_ops.BiasAddV1(value=x, bias=x[0] + 0.0),
    "BroadcastTo": lambda x: tf.broadcast_to(x, [2, 3, 4]),
    "Cast": lambda x: tf.cast(x, tf.float64),
    "ClipByValue": lambda x: tf.raw_ops.ClipByValue(t=x, clip_value_min=0.2, clip_value_max=0.5),
    "ConcatV2": lambda x: tf.concat([x, x], 1),
    "ExpandDims": lambda x: tf.expand_dims(x, 1),
    "LogicalAnd": lambda x: tf.logical_and(x > 0.2, x < 0.5),
    "LogicalNot": lambda x: tf.logical_not(x > 0.2),
    "LogicalOr": lambda x: tf.logical_or(x < 0.2, x > 0.5),
    "Max": lambda x: tf.reduce_max(x, 0),
    "Mean": lambda x: tf.reduce_mean(x, [0, 1]),
    "Min": lambda x: tf.reduce_min(x, 1, keepdims=True),
    "Pack": lambda x: tf.stack([x, x], 1),
    "Pad": lambda x: tf.pad(x, [[1, 0], [0, 2]]),
    "Prod": lambda x: tf.reduce_prod(x, 0),
    "Reshape": lambda x: tf.reshape(x, [2, 6]),
    "Select": lambda x: tf.where(x > 0.3, x, -x),
    "SelectV2": lambda x: tf.where_v2(x > 0.3, x, 1.0),
    "Slice": lambda x: tf.slice(x, [1, 0], [2, 3]),
    "Split": lambda x: tf.split(x, 2, 1),
    "SplitV": lambda x: tf.split(x, [1, 3], 1),
    "Squeeze": lambda x: tf.squeeze(tf.expand_dims(x, 1), [1]),
    "Sum": lambda x: tf.reduce_sum(x, 1),
    "Tile": lambda x: tf.tile(x, [2, 1]),
    "Transpose": lambda x: tf.transpose(x),
    "Unpack": lambda x: tf.unstack(x, axis=1),
}


def called(op_type, x):
    if op_type in CALLS:
        return CALLS[op_type](x)
    spec = registry.find(op_type)
    return spec(*[x for _ in spec.inputs])


@pytest.mark.parametrize("op_type", sorted(fusion._COMPUTING | fusion._MOVING))
def test_fusible_ops(op_type, no_compiler):
    """The kernels of the ops that a region may have can be traced: they depend on no values."""
    x = tf.placeholder(tf.float32, [3, 4])
    made = tf.nest.flatten(called(op_type, tf.sqrt(x)))
    assert made[0].op.type == op_type
    results = [each if each.dtype == tf.bool else tf.negative(each) for each in made]
    with tf.Session(config=SOON) as session:
        step, expected = heated(session, results, {x: X})
        found = session.run(results, {x: X})
    inside = [n.type for region in regions_of(step) for n in region.attrs["region"].nodes]
    assert op_type in inside or op_type in ("Identity", "StopGradient")
    for mine, theirs in zip(found, expected[0], strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_the_parts_of_several_devices_are_fused_each(no_compiler):
    x = tf.placeholder(tf.float32, [3])
    with tf.device("/cpu:0"):
        first = tf.exp(tf.sin(x) + 1.0)
    with tf.device("/cpu:1"):
        second = tf.tanh(tf.cos(first) * 2.0)
        counter = tf.Variable(np.zeros(3, np.float32))
        update = counter.assign_add(second)
    config = tf.ConfigProto(device_count={"CPU": 2})
    config.MergeFrom(SOON)
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        step, results = heated(session, [second, update], {x: [1, 2, 3]})
        results.append(session.run([second, update], {x: [1, 2, 3]}))
        regions = regions_of(step)
        text = str(tf.explain([second, update], {x: [1, 2, 3]}))
    assert {region.device[-5:] for region in regions} == {"CPU:0", "CPU:1"}
    assert "exp" in text.lower() and "compiled regions:" in text
    for number, (value, total) in enumerate(results, start=1):
        np.testing.assert_array_equal(value, results[0][0])
        np.testing.assert_allclose(total, number * value, rtol=1e-6)


def test_the_tangent_of_compiled_regions_is_right_within_four_units():
    x = torch.cat([torch.linspace(-12, 12, 200_001), torch.logspace(-20, 1, 10_001)])
    found, exact = inductor._rational_tanh(x).double(), torch.tanh(x.double())
    assert ((found - exact).abs() <= 4 * torch.finfo(torch.float32).eps * exact.abs()).all()


def test_the_tangent_of_compiled_regions_has_the_limits_of_tanh():
    x = torch.tensor([0.0, -float("inf"), float("inf"), float("nan")])
    torch.testing.assert_close(
        inductor._rational_tanh(x), torch.tanh(x), rtol=0, atol=0, equal_nan=True
    )
    assert inductor._rational_tanh(x.double()) is NotImplemented
