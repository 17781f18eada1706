"""When the cost model chooses devices, what it leaves alone, and how a session is told."""

import random

import pytest

import penstock as tf
from penstock.client.session_defaults import session_defaults
from penstock.passes.prune import prune
from penstock.placement.chooser import chooser
from penstock.placement.groups import Candidate, grouped
from penstock.placement.options import PlacementOptions
from penstock.placement.placer import place

TASK = "/job:localhost/replica:0/task:0"
CPUS = [f"{TASK}/device:CPU:{i}" for i in range(4)]
GPUS = [f"{TASK}/device:GPU:{i}" for i in range(2)]

EAGER = {"least_seconds": 0.0, "least_gain": 0.0}


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def towers(count=4, size=512, depth=3):
    x = tf.placeholder(tf.float32, [size, size])
    ends = []
    for number in range(count):
        value = x * float(number)
        for _ in range(depth):
            value = tf.matmul(value, value)
        ends.append(tf.reduce_sum(value))
    return x, tf.add_n(ends)


def placed(fetches, devices=CPUS, mode="greedy", feeds=(), sticky=None, **settings):
    """The device of each node."""
    step = prune(list(feeds), list(fetches), [])
    options = PlacementOptions(mode, **settings)
    place(step, devices, choose=chooser(options), sticky=sticky)
    return {node.name: node.device for node in step.nodes}


def test_independent_towers_are_spread():
    x, loss = towers()
    assert set(placed([loss], feeds=[x]).values()) == set(CPUS)


@pytest.mark.parametrize("mode", ["off", "auto"])
def test_cpu_devices_are_left_alone_unless_asked_for(mode):
    x, loss = towers()
    assert set(placed([loss], feeds=[x], mode=mode).values()) == {CPUS[0]}


def test_accelerators_are_used_by_default():
    x, loss = towers(size=4096)
    by_default = placed([loss], [*GPUS, CPUS[0]], "auto", feeds=[x])
    assert set(by_default.values()) == set(GPUS)
    assert GPUS[1] not in placed([loss], [*GPUS, CPUS[0]], "off", feeds=[x]).values()


def test_a_small_step_stays_on_the_first_device():
    x, loss = towers(size=16)
    assert set(placed([loss], feeds=[x]).values()) == {CPUS[0]}


def test_a_step_that_gains_nothing_stays_on_the_first_device():
    x, loss = towers(count=1, size=1024)
    assert set(placed([loss], feeds=[x]).values()) == {CPUS[0]}


def test_the_order_of_types_stays():
    """A GPU comes before a CPU, however idle that is."""
    x, loss = towers()
    used = placed([loss], [GPUS[0], *CPUS], feeds=[x], **EAGER)
    assert set(used.values()) == {GPUS[0]}


def test_state_stays_where_it_is():
    variables = [tf.get_variable(f"v{i}", [512, 512], use_resource=True) for i in range(4)]
    loss = tf.add_n([tf.reduce_sum(tf.matmul(v, v)) for v in variables])
    sticky = {"v3": CPUS[3]}
    found = placed([loss], sticky=sticky, **EAGER)
    assert [found[f"v{i}"] for i in range(4)] == [CPUS[0]] * 3 + [CPUS[3]]
    assert len(set(found.values())) > 2


def test_a_loop_goes_as_one():
    x = tf.placeholder(tf.float32, [512, 512])

    def body(i, a, b):
        return i + 1, tf.matmul(a, a), tf.matmul(b, b)

    loops = [tf.while_loop(lambda i, *_: i < 5, body, [0, x, x]) for _ in range(3)]
    step = prune([x], [tf.add_n([loop[1] + loop[2] for loop in loops])], [])
    place(step, CPUS, choose=chooser(PlacementOptions("greedy")))
    homes = [
        {n.device for n in step.nodes if n.type == "MatMul" and n.name.startswith(scope)}
        for scope in ("while/", "while_1/", "while_2/")
    ]
    assert all(len(home) == 1 for home in homes)
    assert len(set.union(*homes)) == 3


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("mode", ["greedy", "search"])
def test_constraints_always_hold(seed, mode):
    rng = random.Random(seed)
    values = [tf.placeholder(tf.float32, [256, 256])]
    for _ in range(25):
        device = f"/device:CPU:{rng.randrange(4)}" if rng.random() < 0.2 else None
        beside = rng.choice(values).op if rng.random() < 0.2 and device is None else None
        with tf.device(device), tf.colocate_with(beside, ignore_existing=True):
            values.append(tf.matmul(rng.choice(values), rng.choice(values)))
    step = prune(values[:1], values[-3:], [])
    settings = {"effort": 3000, "seed": seed} if mode == "search" else {}
    allowed = grouped(step, [Candidate.of(name) for name in CPUS], lambda *_: True, soft=False)
    place(step, CPUS, choose=chooser(PlacementOptions(mode, **settings, **EAGER)))
    for group in allowed:
        (device,) = {node.device for node in group.nodes}
        assert device in {candidate.name for candidate in group.devices}


def test_off_is_the_same_as_no_choice():
    x, loss = towers()
    first, second = prune([x], [loss], []), prune([x], [loss], [])
    place(first, CPUS, choose=chooser(PlacementOptions("off")))
    place(second, CPUS)
    assert [(n.name, n.device) for n in first.nodes] == [(n.name, n.device) for n in second.nodes]


# The configuration of sessions ----------------------------------------------------------------


def devices_used(config, x, loss):
    with tf.Session(config=config) as sess:
        metadata = tf.RunMetadata()
        options = tf.RunOptions(output_partition_graphs=True)
        sess.run(loss, {x: [[0.001] * 512] * 512}, options, metadata)
    return {node.device for graph in metadata.partition_graphs for node in graph.node} - {""}


def test_a_session_is_told_by_its_config():
    x, loss = towers()
    config = tf.ConfigProto(device_count={"CPU": 4})
    assert tf.config.get_placement(config) == "auto"
    assert devices_used(config, x, loss) == {CPUS[0]}
    tf.config.set_placement("greedy", config=config)
    assert tf.config.get_placement(config) == "greedy"
    assert devices_used(config, x, loss) == set(CPUS)
    tf.config.set_placement("off", config=config)
    assert devices_used(config, x, loss) == {CPUS[0]}
    assert len(config.graph_options.rewrite_options.custom_optimizers) == 1


def test_new_sessions_are_told_by_default():
    before = session_defaults().SerializeToString()
    try:
        tf.config.set_placement("search", effort=10, seed=3, least_seconds=0.25)
        with tf.Session() as sess:
            options = PlacementOptions.from_config(sess._config)
        assert options == PlacementOptions("search", effort=10, seed=3, least_seconds=0.25)
    finally:
        session_defaults().ParseFromString(before)


def test_measured_times_decide():
    """By its shapes the step is not worth moving; a trace says that it is."""
    x = tf.placeholder(tf.float32, [2])
    ends = [tf.exp(x, name=f"slow_{i}") for i in range(2)]
    ends[1] = tf.sin(ends[1])
    metadata = tf.RunMetadata()
    row = metadata.step_stats.dev_stats.add(device=CPUS[0])
    for i in range(2):
        row.node_stats.add(node_name=f"slow_{i}", op_end_rel_micros=40_000)
    config = tf.ConfigProto()
    tf.config.set_placement("greedy", config=config)
    estimated = PlacementOptions.from_config(config)
    tf.config.set_placement("greedy", metadata, config=config)
    measured = PlacementOptions.from_config(config)
    homes = []
    for options in (estimated, measured):
        step = prune([x], ends, [])
        place(step, CPUS, choose=chooser(options))
        homes.append({n.device for n in step.nodes if n.name.startswith("slow")})
    assert [len(home) for home in homes] == [1, 2]


def test_an_unknown_mode_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="known modes: auto, off, greedy"):
        tf.config.set_placement("best")
    config = tf.ConfigProto()
    entry = config.graph_options.rewrite_options.custom_optimizers.add(name="placement")
    entry.parameter_map["mode"].s = b"fast"
    with pytest.raises(tf.errors.InvalidArgumentError, match="'fast'"):
        tf.Session(config=config)


def test_only_metadata_has_measured_times():
    with pytest.raises(TypeError, match="RunMetadata"):
        tf.config.set_placement("greedy", "trace.json")
