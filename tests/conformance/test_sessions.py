"""What TensorFlow's own tests ask of sessions, beyond running a graph."""

import threading
import warnings

import numpy as np
import pytest

import penstock as tf
from penstock.client.session import _DeviceAttributes
from penstock.internal_paths.framework_ops import _default_session_stack


class TestEntering:
    def test_a_session_is_entered_once(self):
        session = tf.Session()
        with session, pytest.raises(RuntimeError, match="not re-entrant"):
            session.__enter__()
        with session:
            pass

    def test_the_stack_of_default_sessions(self, session):
        assert _default_session_stack.get_default() is session
        outer, inner = tf.Session().as_default(), tf.Session().as_default()
        outer.__enter__()
        inner.__enter__()
        with pytest.raises(AssertionError, match="Nesting violated"):
            outer.__exit__(None, None, None)
        _default_session_stack.reset()
        assert _default_session_stack.get_default() is None
        assert _default_session_stack.is_cleared()

    def test_interactive_sessions_close_in_any_order(self):
        first = tf.InteractiveSession()
        with pytest.warns(UserWarning, match="already active"):
            second = tf.InteractiveSession()
        first.close()
        assert tf.get_default_session() is second
        second.close()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tf.InteractiveSession().close()


class TestWhatARunReports:
    def test_metadata_without_options_is_emptied(self, session):
        c = tf.constant(1)
        metadata = tf.RunMetadata()
        session.run(c, options=tf.RunOptions(output_partition_graphs=True), run_metadata=metadata)
        assert len(metadata.partition_graphs) == 1
        session.run(c, run_metadata=metadata)
        assert not metadata.partition_graphs

    def test_a_traced_constant_has_a_device(self, session):
        metadata = tf.RunMetadata()
        traced = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        session.run(tf.constant(1.0), options=traced, run_metadata=metadata)
        assert len(metadata.step_stats.dev_stats) == 1

    def test_shapes_in_the_graph_of_a_session(self):
        tf.constant([[1, 2]])
        config = tf.ConfigProto(graph_options=tf.GraphOptions(infer_shapes=True))
        with tf.Session(config=config) as shaped, tf.Session() as plain:
            assert "_output_shapes" in shaped.graph_def.node[0].attr
            assert "_output_shapes" not in plain.graph_def.node[0].attr

    def test_devices(self, session):
        (device,) = session.list_devices()
        assert device.name == "/job:localhost/replica:0/task:0/device:CPU:0"
        assert device.memory_limit_bytes > 0 and device.incarnation
        described = _DeviceAttributes("/job:worker/task:3/cpu:1", "TYPE", 7, 9)
        assert repr(described) == "_DeviceAttributes(/job:worker/task:3/device:CPU:1, TYPE, 7, 9)"


class TestFeeding:
    @pytest.mark.parametrize(
        ("dtype", "value"),
        [(tf.string, 1), (tf.int32, 2**40), (tf.float32, 2**24 + 1), (tf.bool, 5)],
    )
    def test_a_number_that_the_type_does_not_hold(self, session, dtype, value):
        x = tf.placeholder(dtype)
        with pytest.raises(TypeError, match=f"Type of feed value {value} with type <class 'int'>"):
            session.run(tf.identity(x), {x: value})

    def test_sparse_placeholder_of_a_known_shape(self, session):
        x = tf.sparse_placeholder(tf.float32, [7, 9], name="x")
        assert x.dense_shape.op.type == "Const" and x.dense_shape.op.name == "x/shape"
        dense = session.run(tf.sparse_tensor_to_dense(x), {x: ([[1, 2]], [3.0])})
        assert dense.shape == (7, 9) and dense[1, 2] == 3.0

    def test_a_callable_from_a_message(self, session):
        x = tf.placeholder(tf.float32)
        options = _callable_options([x], [x + 1.0])
        call = session._make_callable_from_options(options)
        metadata = tf.RunMetadata()
        assert call(np.float32(1), run_metadata=metadata) == [2.0]
        assert metadata.step_stats.dev_stats

    def test_a_name_of_bytes(self, session):
        c = tf.constant(44.0, name=b"e")
        assert c.name == "e:0" and session.run(b"e:0") == 44.0


def _callable_options(feeds, fetches):
    from penstock import proto

    options = proto.CallableOptions(
        feed=[feed.name for feed in feeds], fetch=[fetch.name for fetch in fetches]
    )
    options.run_options.trace_level = proto.RunOptions.FULL_TRACE
    return options


class TestPartialRuns:
    def test_messages(self, session):
        a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
        total = a + b
        invalid = tf.errors.InvalidArgumentError
        with pytest.raises(invalid, match="at least one target to fetch or execute"):
            session.partial_run_setup([], [])
        with pytest.raises(invalid, match="Must run 'setup'"):
            session.partial_run("bogus", total)
        handle = session.partial_run_setup([total], [a])
        with pytest.raises(invalid, match=r"was not specified in partial_run_setup\.$"):
            session.partial_run(handle, total, {a: 1.0, b: 2.0})


class TestServers:
    def test_a_servers_configuration_is_its_sessions_default(self):
        config = tf.ConfigProto(operation_timeout_in_ms=50)
        server = tf.train.Server.create_local_server(config=config)
        queue = tf.FIFOQueue(1, tf.float32)
        with (
            tf.Session(server.target) as session,
            pytest.raises(tf.errors.DeadlineExceededError),
        ):
            session.run(queue.dequeue())


def test_threads_build_and_import_one_graph():
    graph = tf.Graph()
    failures = []

    def build():
        try:
            with graph.as_default():
                x = tf.placeholder(tf.float32)
                loop = tf.while_loop(lambda i, s: i < 3.0, lambda i, s: (i + 1.0, s * i), [x, x])
                tf.gradients(loop, x)
                tf.import_graph_def(graph.as_graph_def(), name="again")
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=build) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
