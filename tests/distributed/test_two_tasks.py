"""Sessions over a parameter server and a worker: what crosses between them, whose state it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from penstock.python.ops import control_flow_ops

import penstock as tf
from tests.cluster.nursery import free_ports

PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def target(start_server: Callable[..., Any]) -> str:
    """The worker of a cluster in this process."""
    ps, worker = (f"localhost:{port}" for port in free_ports(2))
    cluster = {"ps": [ps], "worker": [worker]}
    start_server(cluster, job_name="ps", task_index=0)
    target: str = start_server(cluster, job_name="worker", task_index=0).target
    return target


# Errors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_sent", [False, True], ids=["fetched", "sent"])
def test_an_error_of_what_is_sent_names_the_operation(
    target: str, by_grpc: Any, is_sent: bool
) -> None:
    with tf.device(PS):
        v = tf.Variable(1.0, use_resource=False, name="v")
    with tf.device(WORKER):
        there = v + 1.0
    with (
        tf.Session(target, config=by_grpc) as session,
        pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v") as info,
    ):
        session.run(there if is_sent else v)
    assert info.value.op.name == ("v/read" if is_sent else "v")
    assert info.value.message.count("From /job:ps/replica:0/task:0:") == 1
    assert "From /job:worker" not in info.value.message


@pytest.mark.parametrize("with_partner", [False, True])
def test_partners_that_want_to_be_in_different_tasks(
    target: str, by_grpc: Any, with_partner: bool
) -> None:
    with tf.device(PS):
        v = tf.Variable(1.0, name="v")
    with tf.colocate_with(v):
        two = tf.constant(2.0, name="two")
    two.op._set_device(WORKER)
    fetches = [two, v] if with_partner else [two]
    with tf.Session(target, config=by_grpc) as session:
        session.run(v.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot colocate") as info:
            session.run(fetches)
        assert info.value.op is two.op
    by_grpc.allow_soft_placement = True
    with tf.Session(target, config=by_grpc) as session:
        assert session.run(fetches) == [2.0, 1.0][: len(fetches)]


# Sixteen bits -----------------------------------------------------------------------------------


def _narrow() -> Any:
    config = tf.ConfigProto()
    config.graph_options.enable_bfloat16_sendrecv = True
    return config


def _upper_half(values: np.ndarray) -> np.ndarray:
    return (values.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


def test_floats_cross_with_their_upper_sixteen_bits(target: str) -> None:
    random = np.random.default_rng(0)
    bits = random.integers(0, 1 << 32, 4000, dtype=np.uint64).astype(np.uint32)
    values = bits.view(np.float32)
    values = values[~np.isnan(values)]
    values[:4] = [0.0, -0.0, np.inf, 1.0 + 2**-8]
    given = tf.placeholder(tf.float32, [None])
    with tf.device(PS):
        there = tf.abs(-given)  # its input is fed there
    with tf.device(WORKER):
        back = tf.identity(tf.stack([there, there]))
    with tf.Session(target, config=_narrow()) as session:
        found = session.run(back, {given: values})
    np.testing.assert_array_equal(found[0], _upper_half(np.abs(values)))
    assert found.dtype == np.float32


@pytest.mark.parametrize(
    "dtype", [tf.float64, tf.int32, tf.int64, tf.float16, tf.complex64, tf.bool]
)
def test_other_types_are_left_alone(target: str, dtype: Any) -> None:
    values = np.arange(-5, 60_000, 7).astype(dtype.as_numpy_dtype)
    given = tf.placeholder(dtype, [None])
    with tf.device(PS):
        there = tf.concat([given, given[:1]], 0)
    with tf.device(WORKER):
        back = tf.reverse(there, [0])
    with tf.Session(target, config=_narrow()) as session:
        np.testing.assert_array_equal(
            session.run(back, {given: values}), np.append(values, values[0])[::-1]
        )


def test_without_asking_for_it_all_bits_cross(target: str) -> None:
    with tf.device(PS):
        third = tf.Variable(np.float32(1 / 3), use_resource=False)
    with tf.device(WORKER):
        tripled = third * 1.0
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        assert session.run(tripled) == np.float32(1 / 3)
    with tf.Session(target, config=_narrow()) as session:
        assert session.run(tripled) == _upper_half(np.float32([1 / 3]))[0]
        assert session.run(third) == np.float32(1 / 3)  # fetched from where it is


def test_loops_over_tasks_narrow_their_values_too(target: str) -> None:
    with tf.device(WORKER):
        start = tf.constant(np.float32(1 / 3))

    def body(i: Any, total: Any) -> Any:
        with tf.device(PS):
            there = total * 1.0
        with tf.device(WORKER):
            return i + 1, there + 0.0

    with tf.device(WORKER):
        _, end = tf.while_loop(lambda i, _: i < 3, body, [0, start])
    with tf.Session(target, config=_narrow()) as session:
        assert session.run(end) == _upper_half(np.float32([1 / 3]))[0]


# A session's own state --------------------------------------------------------------------------


def test_isolated_sessions_share_no_variable_of_any_task(target: str) -> None:
    made = []
    for device in (PS, WORKER):
        with tf.device(device):
            made.append(tf.Variable(1.0, use_resource=device == PS))
    both = made[0] + made[1]
    isolated = tf.ConfigProto(isolate_session_state=True)
    with tf.Session(target) as shared:
        shared.run(tf.global_variables_initializer())
        shared.run([variable.assign(10.0) for variable in made])
        for _ in range(2):
            with tf.Session(target, config=isolated) as alone:
                with pytest.raises(tf.errors.FailedPreconditionError):
                    alone.run(both)
                alone.run(tf.global_variables_initializer())
                alone.run(made[0].assign_add(1.0))
                assert alone.run(both) == 3.0
        assert shared.run(both) == 20.0


# Steps in parts ---------------------------------------------------------------------------------


def test_a_step_over_tasks_in_parts(target: str) -> None:
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with tf.device(PS):
        count = tf.Variable(0.0, use_resource=False)
        counted = tf.assign_add(count, a)
        doubled = counted * 2.0
    with tf.device(WORKER):
        noise = tf.random_uniform([]) + 0.0 * doubled
        product = doubled * b + noise
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        for turn in range(3):
            handle = session.partial_run_setup([doubled, noise, product, count], [a, b])
            first, drawn = session.partial_run(handle, [doubled, noise], {a: 1.0})
            assert first == 2.0 * (turn + 1)
            assert session.run(count) == turn + 1.0
            whole = session.partial_run(handle, product, {b: 10.0})
            assert whole == np.float32(first * 10.0 + drawn)  # nothing was drawn anew
            assert session.run(count) == turn + 1.0  # nor counted
            session.partial_run(handle, count)


def test_parts_that_wait_for_each_other_and_targets(target: str) -> None:
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with tf.device(PS):
        variable = tf.Variable(0.0, use_resource=True)
        update = variable.assign_add(a, read_value=False)
        with tf.control_dependencies([update]):
            after = variable.read_value() + b
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        handle = session.partial_run_setup([update, after], [a, b])
        assert session.partial_run(handle, update, {a: 5.0}) is None
        assert session.partial_run(handle, after, {b: 1.0}) == 6.0
        assert session.run(variable) == 5.0


def test_branches_in_parts(target: str) -> None:
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with tf.device(PS):
        first, second = tf.cond(a > 0.0, lambda: (a + 1.0, a * 3.0), lambda: (a - 1.0, a))
        last = second + b
    with tf.Session(target) as session:
        handle = session.partial_run_setup([first, last], [a, b])
        assert session.partial_run(handle, first, {a: 2.0}) == 3.0
        assert session.partial_run(handle, last, {b: 1.0}) == 7.0


def test_mistakes_in_parts(target: str) -> None:
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with tf.device(PS):
        c = a + 1.0
        d = c * b
    with tf.Session(target) as session:
        handle = session.partial_run_setup([c, d], [a, b])
        with pytest.raises(tf.errors.InvalidArgumentError, match="can't be computed"):
            session.partial_run(handle, d, {a: 1.0})
        with pytest.raises(tf.errors.InvalidArgumentError, match="already been fed"):
            session.partial_run(handle, c, {a: 1.0})


@pytest.mark.usefixtures("cpus_alone")
def test_places_are_said(target: str, capfd: Any) -> None:
    with tf.device(PS):
        there = tf.placeholder(tf.float32, []) * 2.0
    with tf.device(WORKER):
        here = there + 1.0
    with tf.Session(target, config=tf.ConfigProto(log_device_placement=True)) as session:
        for _ in range(2):
            assert session.run(here, {there.op.inputs[0]: 3.0}) == 7.0
    said = capfd.readouterr().err.splitlines()
    assert said.count("mul: (Mul): /job:ps/replica:0/task:0/device:CPU:0") == 1
    assert said.count("add: (AddV2): /job:worker/replica:0/task:0/device:CPU:0") == 1


def test_fetched_variables_of_other_tasks_are_read_before_they_are_written(target: str) -> None:
    with tf.device(PS):
        there = tf.Variable([0], use_resource=False)
        names = tf.Variable(["a"], use_resource=False)
        add_there, passed_on = there.assign_add([1]), tf.identity(there)
        queue = tf.FIFOQueue(2, tf.int32)
        put, taken = queue.enqueue(1), queue.dequeue()
        counted = tf.get_variable("counted", [], initializer=tf.zeros_initializer())
    with tf.device(WORKER):
        here = tf.Variable([0], use_resource=False)
        add_here = here.assign_add([1])
    with tf.Session(target) as session:
        with pytest.raises(tf.errors.FailedPreconditionError) as uninitialized:
            session.run(there)
        assert uninitialized.value.op is there.op
        session.run(tf.global_variables_initializer())
        for number in range(3):
            before = session.run([add_there.op, add_here.op, there, passed_on, names])[2:]
            assert before == [[number], [number], [b"a"]]
            own = session.run([add_there.op, add_here.op, here])[2]
            assert own == [2 * number + 2]
            session.run(there.assign([number + 1]))
        assert session.run([there, names], {there: [7]}) == [[7], [b"a"]]
        session.run(put)
        assert session.run([taken, counted]) == [1, 0.0]


@pytest.mark.parametrize("kind", ["reference", "resource"])
@pytest.mark.parametrize("passed_on", [False, True])
def test_fetched_variables_of_other_tasks_are_read_before_anything_is_waited_for(
    target: str, kind: str, passed_on: bool
) -> None:
    zeros = tf.zeros_initializer()
    with tf.device(PS):
        sent = tf.get_variable("sent", [], initializer=zeros)
        first, then = (tf.FIFOQueue(1, tf.float32, shapes=[()], shared_name=n) for n in "ab")
    with tf.device(WORKER), tf.control_dependencies([first.enqueue(sent + 1.0)]):
        answer = then.dequeue() * 2.0
    with tf.device(PS):
        update = sent.assign(answer)  # once the other task has answered
        v = tf.get_variable("v", [], initializer=zeros, use_resource=kind == "resource")
        read = tf.identity(v) if passed_on else v
    with tf.Session(target) as waits, tf.Session(target) as writes:
        writes.run([v.initializer, sent.initializer])
        for count in range(3):
            with ThreadPoolExecutor(1) as pool:
                waiting = pool.submit(waits.run, [read, update])
                assert writes.run(first.dequeue()) == 10.0 * bool(count) + 1.0
                assert writes.run(v.assign_add(1.0)) == count + 1.0
                writes.run(then.enqueue(5.0))
                assert waiting.result(60) == [count, 10.0]


# Control flow by hand ---------------------------------------------------------------------------


@pytest.mark.parametrize("place", [PS, WORKER])
def test_primitives_by_hand_run_on_one_task_whichever_it_is(
    target: str, by_grpc: Any, place: str
) -> None:
    with tf.device(place):
        x = tf.placeholder(tf.float32, [])
        low, high = control_flow_ops.switch(x, x > 1.0)
        merged, index = control_flow_ops.merge([low * 2.0, high * 3.0, high * 4.0])
        last = low * 5.0
    metadata = tf.RunMetadata()
    with tf.Session(target, config=by_grpc) as session:
        assert session.run([merged, index, x], {x: 1.0}) == [2.0, 0, 1.0]
        assert session.run(merged, {x: 2.0}) in (6.0, 8.0)
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
        assert session.run(last, {x: 1.0}, options, metadata) == 5.0
        assert len(metadata.partition_graphs) == 1 and metadata.step_stats.dev_stats
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not have value"):
            session.run(high, {x: 1.0})


def test_primitives_by_hand_do_not_run_on_several_tasks(target: str, by_grpc: Any) -> None:
    with tf.device(PS):
        x = tf.placeholder(tf.float32, [])
        low, high = control_flow_ops.switch(x, x > 1.0)
    with tf.device(WORKER):
        merged, _ = control_flow_ops.merge([low * 2.0, high * 3.0, high * 4.0])
    with (
        tf.Session(target, config=by_grpc) as session,
        pytest.raises(tf.errors.UnimplementedError, match="put the nodes .* on one task"),
    ):
        session.run(merged, {x: 1.0})


# Functions ---------------------------------------------------------------------------------------


def test_a_function_called_in_another_task_than_its_variables(target: str, by_grpc: Any) -> None:
    with tf.device(PS):
        v = tf.get_variable("v", initializer=2.0, use_resource=True)

    @tf.function
    def scaled(x: Any) -> Any:
        return x * v + 1.0

    with tf.device(WORKER):
        y = scaled(tf.constant(3.0))
    (slope,) = tf.gradients(y, v)
    with tf.Session(target, config=by_grpc) as session:
        session.run(v.initializer)
        assert session.run([y, slope]) == [7.0, 3.0]


@pytest.mark.parametrize("place", [PS, WORKER])
def test_a_function_whose_nodes_ask_for_several_tasks(
    target: str, by_grpc: Any, place: str
) -> None:
    with tf.device(PS):
        v = tf.get_variable("v", initializer=3.0, use_resource=True)

    @tf.function
    def both(x: Any) -> Any:
        with tf.device(PS):
            product = x * v
        with tf.device(WORKER):
            return product + 1.0

    with tf.device(place):
        y = both(tf.constant(4.0))
    slopes = tf.gradients(y, v)
    with tf.Session(target, config=by_grpc) as session:
        session.run(v.initializer)
        assert session.run([y, slopes]) == [13.0, [4.0]]
    with (
        tf.Session() as alone,
        pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign"),
    ):
        alone.run(both(tf.constant(4.0)))


def test_branches_that_are_functions_run_where_their_conditional_is(
    target: str, by_grpc: Any
) -> None:
    metadata = tf.RunMetadata()
    tf.enable_control_flow_v2()
    try:
        with tf.device(PS):
            v = tf.get_variable("v", initializer=2.0, use_resource=True)
        x = tf.placeholder(tf.float32, [])
        with tf.Graph().as_default() as bare:
            # As a program of TensorFlow 1.15 writes them: the nodes of a branch have no device.
            flag = tf.placeholder(tf.bool, [], name="flag")
            tf.cond(flag, lambda: tf.constant(1.0) * 3.0, lambda: tf.constant(2.0), name="choice")
        definition = bare.as_graph_def()
        for node in definition.node:
            if node.name == "choice":
                node.device = WORKER
        (chosen,) = tf.import_graph_def(definition, {"flag": x > 0.0}, ["choice:0"])
        with tf.device(WORKER):
            y = tf.cond(x > 0.0, lambda: v * x, lambda: x)
        # The gradient is in the task of the variable: what the branch has kept for it crosses.
        with tf.device(PS):
            (slope,) = tf.gradients(y, v.handle)
    finally:
        tf.disable_control_flow_v2()
    options = tf.RunOptions(output_partition_graphs=True)
    with tf.Session(target, config=by_grpc) as session:
        session.run(v.initializer)
        assert session.run(slope, {x: 5.0}) == 5.0
        assert session.run(slope, {x: -5.0}) == 0.0
        assert session.run(chosen, {x: 5.0}, options, metadata) == 3.0
    places = {n.device for g in metadata.partition_graphs for n in g.node if "mul" in n.name}
    tasks = {place.partition("/device:")[0] for place in places}
    assert tasks == {WORKER.replace("/task", "/replica:0/task")}


# Handles -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [PS, WORKER])
def test_handles_are_fetched_and_fed(target: str, by_grpc: Any, place: str) -> None:
    with tf.device(place):
        v = tf.get_variable("v", initializer=[2.0, 3.0], use_resource=True)
        queue = tf.FIFOQueue(3, tf.int32, shapes=[[]])
        held = tf.placeholder(tf.resource, [])
        read = tf.raw_ops.ReadVariableOp(resource=held, dtype=tf.float32)
        own, oldest = v.read_value(), queue.dequeue()
    with tf.Session(target, config=by_grpc) as session:
        session.run([v.initializer, queue.enqueue(7)])
        handle, other = session.run([v.handle, queue.queue_ref])
        assert session.run(read, {held: handle}).tolist() == [2.0, 3.0]
        assert session.run(own, {v.handle: handle}).tolist() == [2.0, 3.0]
        assert session.run(oldest, {queue.queue_ref: other}) == 7
