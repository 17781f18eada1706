"""`tf.test.TestCase`: sessions, seeds and assertions for tests of graphs."""

from __future__ import annotations

import os
import random
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from penstock import devices, errors, proto
from penstock.client.session import Session
from penstock.ir import defaults, nest
from penstock.ir.composite import (
    IndexedSlices,
    IndexedSlicesValue,
    SparseTensor,
    SparseTensorValue,
)
from penstock.ir.graph import Graph
from penstock.ops.seeds import set_random_seed
from penstock.platform import logging
from penstock.platform.versions import GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER
from penstock.testing import proto_compare
from penstock.testing.array_assertions import ArrayAssertions
from penstock.testing.checked_thread import CheckedThread
from penstock.testing.eager_sessions import EagerSessionWarner, FakeEagerSession
from penstock.testing.local_devices import gpu_device_name
from penstock.testing.temp_dir import get_temp_dir

SEED = 87654321  # of every test: of its graph, of `random` and of `numpy.random`


class ErrorLoggingSession(Session):
    """A session that logs the errors of its steps, except that an input has ended."""

    def run(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().run(*args, **kwargs)
        except Exception as error:
            if not isinstance(error, errors.OutOfRangeError):
                logging.error(str(error))
            raise


class CapturedWrites:
    """What was written to a stream while it was captured."""

    def __init__(self, capture_location: str):
        self.capture_location = capture_location

    def contents(self) -> str:
        """All of it as text."""
        with open(self.capture_location) as file:
            return file.read()


def _value_now(value: Any) -> Any:
    """The value of a tensor, a variable or a composite of tensors, in eager mode."""
    if value is None:
        return None
    if isinstance(value, SparseTensor):
        parts = (value.indices, value.values, value.dense_shape)
        return SparseTensorValue(*(part.numpy() for part in parts))
    if isinstance(value, IndexedSlices):
        shape = None if value.dense_shape is None else value.dense_shape.numpy()
        return IndexedSlicesValue(value.values.numpy(), value.indices.numpy(), shape)
    if hasattr(value, "_is_eager") and hasattr(value, "flat_values"):
        return value._value()
    if callable(value) and not hasattr(value, "numpy"):
        return nest.map_structure(_value_now, value())
    try:
        return value.numpy()
    except AttributeError:
        raise ValueError(f"Unsupported type {type(value)}.") from None


def _forget_default_writer() -> None:
    """Another test may have left a writer of summaries behind, in a graph of its own."""
    from penstock.summary.op_writers import defaults as summaries

    summaries.writer = None


class TensorFlowTestCase(ArrayAssertions):
    """A test of graphs.

    1. Each test starts with an empty default graph and fixed seeds.
    2. The session of `cached_session` and `evaluate` is one for a test and ends with it.

    >>> class SquareTest(tf.test.TestCase):
    ...     def testSquare(self):
    ...         with self.cached_session():
    ...             self.assertAllEqual(self.evaluate(tf.square([2, 3])), [4, 9])
    """

    _CheckedThread = CheckedThread

    def __init__(self, methodName: str = "runTest"):
        super().__init__(methodName)
        self._threads: list[CheckedThread] = []
        self._tempdir: str | None = None
        self._cached_session: Any = None
        self._cached_arguments: tuple[Any, ...] = ()

    def setUp(self) -> None:
        super().setUp()
        self._ClearCachedSession()
        random.seed(SEED)
        np.random.seed(SEED)  # noqa: NPY002  the generator that tests draw from
        if defaults.starts_eagerly() or not defaults.executing_eagerly():
            # A test that failed inside `with graph.as_default()` may have left its graph there.
            defaults.leave_all_graphs()
            defaults.reset_default_graph()
        set_random_seed(SEED)
        _forget_default_writer()
        self._skip_if_not_a_test()

    def tearDown(self) -> None:
        for thread in self._threads:
            thread.check_termination()
        self._ClearCachedSession()
        super().tearDown()

    def _skip_if_not_a_test(self) -> None:
        # By its name, unittest takes this class's `test_session` for a test.
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")

    def _ClearCachedSession(self) -> None:
        if self._cached_session is not None:
            self._cached_session.close()
            self._cached_session = None

    def get_temp_dir(self) -> str:
        """A directory of this test's own; it is deleted when the program ends."""
        if not self._tempdir:
            self._tempdir = tempfile.mkdtemp(dir=get_temp_dir())
        return self._tempdir

    # Sessions ---------------------------------------------------------------------------------

    def evaluate(self, tensors: Any) -> Any:
        """The values of a nest of tensors, in the default session or the test's own."""
        if defaults.executing_eagerly():
            return nest.map_structure(_value_now, tensors)
        session = defaults.get_default_session()
        if session is not None:
            return session.run(tensors)
        with self.test_session() as own:
            return own.run(tensors)

    @contextmanager
    def session(
        self,
        graph: Graph | None = None,
        config: Any = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Any]:
        """A new session, made the default one, and closed at the end of the `with` block.

        Nodes made inside are placed on the CPU, unless `use_gpu` or `force_gpu` is set.
        """
        if defaults.executing_eagerly():
            yield EagerSessionWarner()
            return
        session = self._create_session(graph, config, force_gpu)
        with session, self._constrain_devices_and_set_default(session, use_gpu, force_gpu):
            yield session

    @contextmanager
    def cached_session(
        self,
        graph: Graph | None = None,
        config: Any = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Any]:
        """The test's session, made the default one; ValueError if it was made otherwise."""
        if defaults.executing_eagerly():
            yield FakeEagerSession(self)
            return
        session = self._get_cached_session(graph, config, force_gpu)
        with self._constrain_devices_and_set_default(session, use_gpu, force_gpu):
            yield session

    @contextmanager
    def test_session(
        self,
        graph: Graph | None = None,
        config: Any = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Any]:
        """`cached_session` of old: whatever the arguments, unless a graph is given."""
        self._skip_if_not_a_test()
        if defaults.executing_eagerly():
            yield None
            return
        if graph is not None:
            with self.session(graph, config, use_gpu, force_gpu) as session:
                yield session
            return
        session = self._get_cached_session(
            graph, config, force_gpu, crash_if_inconsistent_args=False
        )
        with self._constrain_devices_and_set_default(session, use_gpu, force_gpu):
            yield session

    @contextmanager
    def _constrain_devices_and_set_default(
        self, sess: Any, use_gpu: bool, force_gpu: bool
    ) -> Iterator[Any]:
        with sess.graph.as_default(), sess.as_default():
            if force_gpu:
                with sess.graph.device(gpu_device_name() or "/device:GPU:0"):
                    yield sess
            elif use_gpu:
                yield sess
            else:
                with sess.graph.device("/device:CPU:0"):
                    yield sess

    def _create_session(self, graph: Graph | None, config: Any, force_gpu: bool) -> Any:
        return ErrorLoggingSession(graph=graph, config=_test_config(config, force_gpu))

    def _get_cached_session(
        self,
        graph: Graph | None = None,
        config: Any = None,
        force_gpu: bool = False,
        crash_if_inconsistent_args: bool = True,
    ) -> Any:
        arguments = graph, config, force_gpu
        if self._cached_session is None:
            self._cached_session = self._create_session(graph, config, force_gpu)
            self._cached_arguments = arguments
        elif crash_if_inconsistent_args:
            names = "The graph", "The config", "The force_gpu value"
            for name, now, before in zip(names, arguments, self._cached_arguments, strict=True):
                if now is not before:
                    raise ValueError(
                        f"{name} used to get the cached session is different than the one that was "
                        "used to create the session. Maybe create a new session with self.session()"
                    )
        return self._cached_session

    # Threads and streams ----------------------------------------------------------------------

    def checkedThread(
        self,
        target: Callable[..., Any],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> CheckedThread:
        """A thread whose failure is the test's; it must be started and joined."""
        thread = CheckedThread(self, target, args, kwargs)
        self._threads.append(thread)
        return thread

    @contextmanager
    def captureWritesToStream(self, stream: IO[str]) -> Iterator[CapturedWrites]:
        """Collects what is written to a stream such as `sys.stderr`, by any part of the process."""
        stream.flush()
        descriptor = stream.fileno()
        number, path = tempfile.mkstemp(dir=self.get_temp_dir())
        original = os.dup(descriptor)
        os.dup2(number, descriptor)
        try:
            yield CapturedWrites(path)
        finally:
            stream.flush()
            os.dup2(original, descriptor)
            os.close(original)
            os.close(number)

    # Messages, texts, devices -----------------------------------------------------------------

    def _AssertProtoEquals(self, a: Any, b: Any, msg: str | None = None) -> None:
        if not proto_compare.ProtoEq(a, b):
            proto_compare.assertProtoEqual(self, a, b, normalize_numbers=True, msg=msg)

    def assertProtoEquals(
        self, expected_message_maybe_ascii: Any, message: Any, msg: str | None = None
    ) -> None:
        """A message equals another one, or one given in text form."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, str):
            expected = proto_compare.parse_text(expected, type(message))
        if not isinstance(expected, type(message)):
            self.fail(f"Can't compare protos of type {type(expected)} and {type(message)}. {msg}")
        self._AssertProtoEquals(expected, message, msg=msg)

    def assertProtoEqualsVersion(
        self,
        expected: str,
        actual: Any,
        producer: int = GRAPH_DEF_VERSION,
        min_consumer: int = GRAPH_DEF_VERSION_MIN_CONSUMER,
        msg: str | None = None,
    ) -> None:
        """A GraphDef equals one in text form, with the versions of this program added to it."""
        versions = f"versions {{ producer: {producer} min_consumer: {min_consumer} }};"
        self.assertProtoEquals(f"{versions}\n{expected}", actual, msg=msg)

    def assertStartsWith(self, actual: str, expected_start: str, msg: Any = None) -> None:
        """A text starts with another one."""
        if not actual.startswith(expected_start):
            more = f" : {msg!r}" if msg else ""
            self.fail(f"{actual!r} does not start with {expected_start!r}{more}")

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: Any = None) -> None:
        """Two device names mean the same device."""
        first, second = devices.canonical_name(device1), devices.canonical_name(device2)
        self.assertEqual(first, second, f"Devices {first} and {second} are not equal. {msg}")

    # Errors -----------------------------------------------------------------------------------

    @contextmanager
    def assertRaisesWithPredicateMatch(  # type: ignore[override]
        self, exception_type: Any, expected_err_re_or_predicate: Any
    ) -> Iterator[None]:
        """The block raises an error of a class that a predicate accepts, or a regex is found in.

        The regex is searched in the message and in the name of the op that failed.
        """
        matches = expected_err_re_or_predicate
        if not callable(matches):
            matches = _message_matcher(matches)
        try:
            yield
        except Exception as error:
            if not isinstance(error, exception_type) or not matches(error):
                raise AssertionError(f"Exception of type {type(error)}: {error}") from error
            return
        names = getattr(exception_type, "__name__", str(exception_type))
        self.fail(f"{names} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """The block raises a `tf.OpError` that a predicate accepts, or a regex is found in."""
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    # Names that unittest had when tests were written for TensorFlow 1.x ------------------------

    assertItemsEqual = ArrayAssertions.assertCountEqual
    assertEquals = ArrayAssertions.assertEqual
    assertNotEquals = ArrayAssertions.assertNotEqual
    assertAlmostEquals = ArrayAssertions.assertAlmostEqual
    assertNotAlmostEquals = ArrayAssertions.assertNotAlmostEqual
    assertRaisesRegexp = ArrayAssertions.assertRaisesRegex
    assertRegexpMatches = ArrayAssertions.assertRegex
    assertNotRegexpMatches = ArrayAssertions.assertNotRegex
    assert_ = ArrayAssertions.assertTrue
    failUnless = ArrayAssertions.assertTrue
    failIf = ArrayAssertions.assertFalse
    failUnlessEqual = ArrayAssertions.assertEqual
    failUnlessRaises = ArrayAssertions.assertRaises

    def assertDictContainsSubset(self, subset: Any, dictionary: Any, msg: Any = None) -> None:
        """A dict has all entries of another one."""
        self.assertEqual({**dictionary, **subset}, dict(dictionary), msg)


def _test_config(config: Any, force_gpu: bool) -> Any:
    """A session's config for tests: what they build is what runs, nothing optimised away."""
    made = proto.ConfigProto()
    if config is None or (force_gpu and config.allow_soft_placement):
        made.allow_soft_placement = not force_gpu
    else:
        made.CopyFrom(config)
    made.graph_options.optimizer_options.opt_level = proto.OptimizerOptions.L0
    rewrites = made.graph_options.rewrite_options
    rewrites.constant_folding = proto.RewriterConfig.OFF
    rewrites.pin_to_host_optimization = proto.RewriterConfig.OFF
    return made


def _message_matcher(pattern: Any) -> Callable[[Exception], Any]:
    def matches(error: Exception) -> Any:
        if not isinstance(error, errors.OpError):
            return re.search(pattern, str(error))
        text, op = error.message, error.op
        while op is not None:
            text += f"\nCaused by: {op.name}"
            op = getattr(op, "_original_op", None)
        return re.search(pattern, text)

    return matches
