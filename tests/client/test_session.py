"""Sessions: fetches, feeds, callables, partial runs, life, errors."""

import collections
import gc
import os
import signal
import threading
import time
import types
import weakref

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def session(graph):
    with tf.Session() as session:
        yield session


def run_forever(session, fetch):
    while True:
        session.run(fetch)


class TestFetches:
    def test_structures_come_back_as_they_went_in(self, session):
        a, b = tf.constant(1.0), tf.constant([2, 3])
        Pair = collections.namedtuple("Pair", ["x", "y"])
        nested = {"k": [a, (b, a)], "p": Pair(a, [b])}
        result = session.run(nested)
        assert result["k"][0] == 1.0 and isinstance(result["k"], list)
        assert isinstance(result["k"][1], tuple) and result["k"][1][0].tolist() == [2, 3]
        assert isinstance(result["p"], Pair) and result["p"].y[0].tolist() == [2, 3]
        ordered = session.run(collections.OrderedDict([("z", a), ("a", b)]))
        assert list(ordered) == ["z", "a"] and isinstance(ordered, collections.OrderedDict)
        assert session.run([]) == [] and session.run({}) == {}

    def test_views_of_dictionaries(self, session):
        tensors = {"a": tf.constant(1), "b": [tf.constant(2), tf.no_op()]}
        assert session.run(tensors.values()) == [1, [2, None]]
        tensors["c"] = tf.constant(3, name="c")
        assert session.run(tensors.values()) == [1, [2, None], 3]
        assert session.run({"c:0": 0}.keys()) == [3]

    def test_objects_of_attrs_classes(self, session):
        """Classes made by the attrs package are known by the list of their fields."""

        class Point:
            __attrs_attrs__ = (types.SimpleNamespace(name="x"), types.SimpleNamespace(name="y"))

            def __init__(self, x, y):
                self.x, self.y = x, y

        result = session.run(Point(tf.constant(1.0), [tf.constant(2)]))
        assert isinstance(result, Point)
        assert (result.x, result.y) == (1.0, [2])

    def test_names_operations_and_variables(self, session):
        variable = tf.Variable(3.0, name="v")
        tf.constant(1.0, name="c")
        assert session.run(variable.initializer) is None
        assert session.run([variable, "c:0", "c", tf.no_op()]) == [3.0, 1.0, None, None]

    def test_a_tensor_fetched_twice_is_computed_once(self, session):
        variable = tf.Variable(0.0)
        session.run(variable.initializer)
        add = tf.assign_add(variable, 1.0)
        assert session.run([add, add]) == [1.0, 1.0]

    def test_composites(self, session):
        sparse = tf.SparseTensor([[0, 1]], [5.0], [2, 2])
        slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([3]))
        s, i = session.run([sparse, slices])
        assert isinstance(s, tf.SparseTensorValue) and s.dense_shape.tolist() == [2, 2]
        assert isinstance(i, tf.IndexedSlicesValue) and i.dense_shape is None
        assert i.indices.tolist() == [3]

    def test_scalars_are_numpy_scalars_and_strings_bytes(self, session):
        values = session.run(
            [tf.constant(1.0), tf.constant(2), tf.constant("a"), tf.constant(True)]
        )
        assert [type(v) for v in values] == [np.float32, np.int32, bytes, np.bool_]
        array = session.run(tf.constant([["a", "bc"]]))
        assert array.dtype == object and array.tolist() == [[b"a", b"bc"]]

    def test_fetched_arrays_never_alias_state(self, session):
        variable = tf.Variable([1.0, 2.0])
        session.run(variable.initializer)
        value = session.run(variable)
        value[:] = 9
        constant = tf.constant([1.0, 2.0])
        session.run(constant)[:] = 9
        assert session.run(variable).tolist() == session.run(constant).tolist() == [1.0, 2.0]
        kept = session.run(tf.reshape(variable, [2, 1]))
        session.run(tf.assign(variable, [7.0, 7.0]))
        assert kept.ravel().tolist() == [1.0, 2.0]

    @pytest.mark.parametrize("fetch", [None, 3, object(), [None], {"a": 1.5}])
    def test_what_is_no_fetch(self, session, fetch):
        tf.constant(1.0)
        with pytest.raises(TypeError, match="has invalid type"):
            session.run(fetch)

    def test_foreign_and_unknown(self, session):
        tf.constant(1.0)
        with tf.Graph().as_default():
            foreign = tf.constant(1.0)
        with pytest.raises(ValueError, match="not an element of this graph"):
            session.run(foreign)
        with pytest.raises(ValueError, match="cannot be interpreted as a Tensor"):
            session.run("nowhere:0")
        assert session.run(tf.constant(2.0)) == 2.0

    def test_user_defined_type(self, session):
        from penstock.client.fetches import register_session_run_conversion_functions

        class Squared:
            def __init__(self, tensor):
                self.tensor = tensor

        register_session_run_conversion_functions(
            Squared,
            lambda s: ([s.tensor], lambda values: values[0] ** 2),
            lambda s, value: [(s.tensor, value)],
            lambda s: [s.tensor],
        )
        x = tf.placeholder(tf.float32, [])
        assert session.run(Squared(x), {Squared(x): 3.0}) == 9.0


class TestFeeds:
    def test_any_tensor_can_be_fed(self, session):
        a = tf.constant(1.0, name="a")
        b = a + 1.0
        c = b * 10.0
        assert session.run(c) == 20.0
        assert session.run(c, {b: 5.0}) == 50.0
        assert session.run(c, {"a:0": 0.0}) == 10.0
        assert session.run([a, c], {a: 3.0, b: 1.0}) == [3.0, 10.0]

    def test_feeding_a_shape_overrides_what_was_inferred(self, session):
        shape = tf.constant([2, 3])
        zeros = tf.zeros(shape)
        assert session.run(tf.raw_ops.Shape(input=zeros), {shape: [4, 5]}).tolist() == [4, 5]

    def test_a_fetch_of_a_fed_tensor_gives_what_was_fed(self, session):
        mode = tf.placeholder_with_default("train", [])
        fed, through = session.run([mode, tf.identity(mode)], {mode: "eval"})
        assert isinstance(fed, np.ndarray) and fed == "eval" and through == b"eval"
        number = tf.placeholder(tf.float32)
        array = np.ones(2, np.float32)
        assert session.run(number, {number: array}) is array
        assert session.run(number, {number: 3}).dtype == np.float32
        sparse = tf.sparse_placeholder(tf.float32)
        value = tf.SparseTensorValue([[0]], [1.0], [2])
        assert session.run(sparse, {sparse: value}).values.tolist() == [1.0]
        assert session.make_callable(mode, [mode])("infer") == "infer"

    def test_wrong_feeds(self, session):
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        n = tf.placeholder(tf.int32, [])
        y = x + 1.0
        with pytest.raises(ValueError, match=r"Cannot feed value of shape \(3,\) for Tensor 'x:0'"):
            session.run(y, {x: [1, 2, 3]})
        with pytest.raises(ValueError):
            session.run(y, {x: [["a", "b"]]})
        with pytest.raises(TypeError, match="cannot be a tf.Tensor"):
            session.run(y, {x: tf.zeros([1, 2])})
        with pytest.raises(TypeError, match="Cannot interpret feed_dict key"):
            session.run(y, {"nowhere:0": 1.0})
        with pytest.raises(TypeError, match="not compatible with Tensor type .*int32"):
            session.run(n, {n: 2**40})
        with pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value.*'x'") as e:
            session.run(y)
        assert e.value.op is x.op
        assert session.run(y, {x: [[1, 2]]}).tolist() == [[2, 3]]

    def test_a_tuple_of_keys_takes_a_tuple_of_values(self, session):
        Pair = collections.namedtuple("Pair", ["x", "y"])
        a, b, c = (tf.placeholder(tf.float32, []) for _ in range(3))
        for value in ((1, (2, 3)), (1, Pair(2, 3)), [1, [2, 3]]):
            assert session.run(a * 100 + b * 10 + c, {(a, Pair(b, c)): value}) == 123
        with pytest.raises(ValueError, match="Key had 2 elements, but value had 1 elements"):
            session.run(a + b, {(a, b): (1,)})

    def test_sparse_feed(self, session):
        sparse = tf.SparseTensor(
            tf.placeholder(tf.int64, [None, 2]),
            tf.placeholder(tf.float32, [None]),
            tf.placeholder(tf.int64, [2]),
        )
        value = tf.SparseTensorValue([[0, 1]], [5.0], [2, 2])
        assert session.run(sparse.values * 2.0, {sparse: value}).tolist() == [10.0]

    def test_a_fed_array_is_not_kept(self, session):
        x = tf.placeholder(tf.float32, [2])
        variable = tf.Variable([0.0, 0.0])
        array = np.ones(2, np.float32)
        session.run(tf.assign(variable, x), {x: array})
        array[:] = 7
        assert session.run(variable).tolist() == [1.0, 1.0]

    def test_odd_arrays(self, session):
        x = tf.placeholder(tf.float32, [3])
        y = x * 1.0
        frozen = np.arange(3, dtype=np.float32)
        frozen.flags.writeable = False
        assert session.run(y, {x: frozen}).tolist() == [0, 1, 2]
        assert session.run(y, {x: np.arange(3, dtype=np.float32)[::-1]}).tolist() == [2, 1, 0]
        assert session.run(y, {x: np.arange(3, dtype=">f4")}).tolist() == [0, 1, 2]
        assert session.run(y, {x: np.arange(6, dtype=np.float32)[::2]}).tolist() == [0, 2, 4]

    def test_any_batch_size_uses_one_plan(self, session):
        x = tf.placeholder(tf.float32, [None])
        y = tf.reduce_sum(x * 2.0)
        for n in (1, 5, 0, 3):
            assert session.run(y, {x: np.ones(n)}) == 2.0 * n
        assert len(session._steps) == 1


class TestCallablesAndPartialRuns:
    def test_make_callable(self, session):
        x = tf.placeholder(tf.float32, [])
        y = tf.placeholder(tf.float32, [])
        f = session.make_callable({"sum": x + y}, [x, y])
        assert f(1.0, 2.0) == {"sum": 3.0} and f(3.0, 4.0) == {"sum": 7.0}
        with pytest.raises(TypeError):
            f(1.0)
        with pytest.raises(TypeError, match="feed_list"):
            session.make_callable(x, x)
        assert session.make_callable(tf.no_op())() is None

    def test_a_callable_follows_changes_of_the_graph(self, session):
        a, b = tf.constant(1.0), tf.constant(5.0)
        y = tf.identity(a)
        f = session.make_callable(y)
        assert f() == 1.0
        y.op._update_input(0, b)
        assert f() == 5.0

    def test_partial_run_runs_each_node_once(self, session):
        a, b, c = (tf.placeholder(tf.float32, [], name=n) for n in "abc")
        count = tf.Variable(0.0)
        session.run(count.initializer)
        counted = tf.assign_add(count, 1.0)
        r1 = a + b + counted * 0.0
        r2 = r1 * c
        handle = session.partial_run_setup([r1, r2], [a, b, c])
        first = session.partial_run(handle, r1, {a: 1.0, b: 2.0})
        assert first == 3.0
        assert session.partial_run(handle, r2, {c: first * 10}) == 90.0
        assert session.run(count) == 1.0

    def test_partial_run_errors(self, session):
        a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
        y, z = a + 1.0, a + b
        handle = session.partial_run_setup([y, z], [a, b])
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="can't be computed from the feeds"
        ):
            session.partial_run(handle, z, {b: 1.0})
        with pytest.raises(tf.errors.InvalidArgumentError, match="already been fed"):
            session.partial_run(handle, y, {b: 1.0})
        assert session.partial_run(handle, [y], {a: 1.0}) == [2.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="already been fetched"):
            session.partial_run(handle, y)
        with pytest.raises(tf.errors.InvalidArgumentError, match="not specified"):
            session.partial_run(handle, a * 2.0)


class TestLife:
    def test_default_sessions(self):
        c = tf.constant(1.0)
        with pytest.raises(ValueError, match="No default session"):
            c.eval()
        with tf.Session() as session:
            assert tf.get_default_session() is session and c.eval() == 1.0
            c.op.run()
        assert tf.get_default_session() is None
        with pytest.raises(RuntimeError, match="closed Session"):
            session.run(c)
        kept = tf.Session()
        with kept.as_default():
            assert c.eval() == 1.0
        assert kept.run(c) == 1.0
        assert c.eval(session=kept) == 1.0
        kept.close()
        kept.close()

    def test_interactive_session(self):
        c = tf.constant(4.0)
        session = tf.InteractiveSession()
        assert c.eval() == 4.0
        with pytest.warns(UserWarning, match="already active"):
            second = tf.InteractiveSession()
        second.close()
        session.close()
        assert tf.get_default_session() is None

    def test_bad_constructor_arguments(self):
        with pytest.raises(TypeError):
            tf.Session(graph=3)
        with pytest.raises(TypeError):
            tf.Session(37)
        with pytest.raises(TypeError):
            tf.Session(config=3)
        with pytest.raises(RuntimeError, match="graph is empty"), tf.Session() as session:
            session.run([])

    def test_sessions_have_state_of_their_own(self):
        variable = tf.Variable(1.0)
        with tf.Session() as one, tf.Session() as other:
            one.run(variable.initializer)
            one.run(tf.assign(variable, 5.0))
            with pytest.raises(tf.errors.FailedPreconditionError, match="Variable"):
                other.run(variable)
            assert one.run(variable) == 5.0

    def test_reset_clears_state_and_closes(self):
        variable = tf.Variable(1.0)
        session = tf.Session()
        session.run(variable.initializer)
        tf.Session.reset("")
        with pytest.raises(RuntimeError, match="closed"):
            session.run(variable)

    def test_the_graph_may_grow_and_change(self, session):
        a = tf.constant(1.0, name="a")
        b = a + 1.0
        assert session.run(b) == 2.0
        c = tf.constant(10.0)
        assert session.run(b + c) == 12.0
        b.op._update_input(0, c)
        assert session.run(b) == 11.0

    def test_a_dropped_session_frees_its_memory(self):
        variable = tf.Variable(tf.zeros([1000]))
        session = tf.Session()
        session.run(variable.initializer)
        runtime = weakref.ref(session._runtime)
        del session
        gc.collect()
        assert runtime() is None

    def test_list_devices(self):
        config = tf.ConfigProto(device_count={"CPU": 3})
        with tf.Session(config=config) as session:
            names = [device.name for device in session.list_devices()]
        assert names == [f"/job:localhost/replica:0/task:0/device:CPU:{i}" for i in range(3)]

    def test_a_device_that_is_not_there(self, session):
        with tf.device("/device:CPU:7"):
            c = tf.constant(1.0) + tf.placeholder(tf.float32)
        with pytest.raises(tf.errors.InvalidArgumentError, match="available devices are"):
            session.run(c)

    def test_the_whole_graph_is_placed_but_for_interactive_sessions(self):
        with tf.device("/device:CPU:7"):
            tf.constant(1.0)
        fine = tf.constant(2.0)
        with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
            session.run(fine)
        interactive = tf.InteractiveSession()
        assert interactive.run(fine) == 2.0
        interactive.close()

    def test_soft_placement_and_its_log(self, capfd):
        x = tf.placeholder(tf.float32, [])
        with tf.device("/gpu:0"):
            c = x * 2.0
        config = tf.ConfigProto(allow_soft_placement=True, log_device_placement=True)
        with tf.Session(config=config) as session:
            assert session.run(c, {x: 1.0}) == 2.0
        assert "mul: (Mul): /job:localhost/replica:0/task:0/device:CPU:0" in capfd.readouterr().err
        with tf.device("/job:elsewhere"):
            d = c + 1.0
        with tf.Session(config=config) as session, pytest.raises(tf.errors.InvalidArgumentError):
            session.run(d, {x: 1.0})


class TestThreadsAndTime:
    def test_many_threads_run_steps_at_once(self, session):
        x = tf.placeholder(tf.float32, [])
        variable = tf.Variable(0.0)
        session.run(variable.initializer)
        add = tf.assign_add(variable, 1.0, use_locking=True)
        doubled = x * 2.0
        failures = []

        def work(i):
            for _ in range(50):
                value, _ = session.run([doubled, add.op], {x: float(i)})
                if value != 2.0 * i:
                    failures.append(value)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures and session.run(variable) == 400.0

    def test_timeouts(self, session):
        slow = tf.py_func(lambda: time.sleep(0.05) or np.float32(1), [], tf.float32)
        after = slow + 1.0
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(after, options=tf.RunOptions(timeout_in_ms=5))
        assert session.run(after, options=tf.RunOptions(timeout_in_ms=60_000)) == 2.0
        assert session.run(after) == 2.0
        with pytest.raises(TypeError):
            session.run(after, options=5)
        config = tf.ConfigProto(operation_timeout_in_ms=5)
        with tf.Session(config=config) as hurried, pytest.raises(tf.errors.DeadlineExceededError):
            hurried.run(after)

    def test_ctrl_c_stops_a_step(self, session):
        """An interrupt ends an endless loop, and a long plan between two of its nodes."""
        endless = tf.while_loop(lambda i: i >= 0, lambda i: i * 0, [0])
        long = tf.placeholder_with_default(np.ones([200, 200], np.float32), [200, 200])
        for _ in range(3000):
            long = tf.matmul(long, long * 1e-3)
        gc.collect()  # Python swallows an interrupt that comes while it frees graphs of other tests
        for fetch in (endless, long):
            timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                run_forever(session, fetch)
            timer.join()
        assert session.run(tf.constant(1.0)) == 1.0


class TestErrors:
    def test_a_failing_kernel_names_node_values_and_line(self, session):
        a = tf.placeholder(tf.float32, [None, None], name="a")
        b = tf.placeholder(tf.float32, [None, None], name="b")
        product = tf.matmul(a, b, name="product")
        with pytest.raises(tf.errors.InvalidArgumentError) as e:
            session.run(product, {a: np.ones((2, 3)), b: np.ones((4, 5))})
        text = str(e.value)
        assert "MatMul 'product' (made at test_session.py:" in text
        assert "[2,3]" in text and "[4,5]" in text
        assert e.value.op is product.op and e.value.node_def.name == "product"
        assert session.run(product, {a: np.ones((2, 3)), b: np.ones((3, 1))}).shape == (2, 1)

    def test_a_cycle(self, session):
        a = tf.constant(1.0)
        b, c = tf.identity(a), tf.identity(a)
        b.op._update_input(0, c)
        c.op._update_input(0, b)
        with pytest.raises(tf.errors.InvalidArgumentError, match="cycle"):
            session.run(c)
        assert session.run(a) == 1.0

    def test_uninitialized(self, session):
        variable = tf.Variable(1.0, name="weights")
        resource = tf.Variable(1.0, name="table", use_resource=True)
        for v in (variable, resource):
            with pytest.raises(tf.errors.FailedPreconditionError, match=v.op.name):
                session.run(v + 1.0)
