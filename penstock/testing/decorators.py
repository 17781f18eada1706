"""Decorators of test methods and classes that say in which mode of TensorFlow they run.

A test for several modes runs as a graph of version 1's kind and in eager mode; one for version 2
alone is skipped.
"""

from __future__ import annotations

import functools
import inspect
import os
import unittest
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from itertools import product
from typing import Any

from absl.testing import parameterized

from penstock.internal_paths import functional_flow
from penstock.internal_paths.graph_mode import eager_mode, graph_mode
from penstock.ir.graph import Graph
from penstock.ops import flow_modes
from penstock.ops.control import device
from penstock.platform.forward_compatibility import forward_compatibility_horizon
from penstock.testing.local_devices import is_gpu_available

Test = Callable[..., Any]


def _optional_call(decorate: Callable[[Test], Any], func: Any) -> Any:
    """For decorators that are written with or without parentheses."""
    return decorate if func is None else decorate(func)


def _refuse_classes(test: Any, name: str, hint: str = "") -> None:
    if inspect.isclass(test):
        raise ValueError(f"`{name}` only supports test methods.{hint}")


def _unchanged(test: Any) -> Any:
    return test


def _always_runs(description: str) -> Callable[[Test], Test]:
    """For decorators that speak about a compiler which is not there."""
    return _unchanged


def _each_test_method(cls: type) -> Iterator[tuple[str, Test]]:
    for name in dir(cls):
        value = getattr(cls, name, None)
        if name.startswith("test") and name != "test_session" and callable(value):
            yield name, value


# Modes ------------------------------------------------------------------------------------------


def run_in_graph_and_eager_modes(
    func: Any = None,
    config: Any = None,
    use_gpu: bool = True,
    reset_test: bool = True,
    assert_no_eager_garbage: bool = False,
) -> Any:
    """Runs a test twice: in the test case's session, as a graph, and in eager mode."""

    def decorate(test: Test) -> Test:
        hint = " Did you mean to use `run_all_in_graph_and_eager_modes`?"
        _refuse_classes(test, "run_in_graph_and_eager_modes", hint)

        @functools.wraps(test)
        def in_both_modes(self: Any, *args: Any, **kwargs: Any) -> None:
            session = self.test_session(use_gpu=use_gpu, config=config)
            with suppress(unittest.SkipTest), graph_mode(), session:
                test(self, *args, **kwargs)
            if reset_test:
                self.tearDown()
                self._tempdir = None
            with Graph().as_default(), eager_mode():
                if reset_test:
                    self.setUp()
                with nullcontext() if use_gpu else device("/device:CPU:0"):
                    test(self, *args, **kwargs)

        return in_both_modes

    return _optional_call(decorate, func)


def run_all_in_graph_and_eager_modes(cls: type) -> type:
    """Runs every test of a class as `run_in_graph_and_eager_modes` does."""
    for name, test in _each_test_method(cls):
        if not name.startswith(("testSkipEager", "test_skip_eager")):
            setattr(cls, name, run_in_graph_and_eager_modes(test))
    return cls


def deprecated_graph_mode_only(func: Any = None) -> Any:
    """Runs a test, or those of a class, as graphs: as they are."""
    return _optional_call(_unchanged, func)


run_deprecated_v1 = deprecated_graph_mode_only
run_all_in_deprecated_graph_mode_only = deprecated_graph_mode_only


def run_v1_only(reason: str, func: Any = None) -> Any:
    """Runs a test, or those of a class, which are for version 1 alone: as they are."""
    if not isinstance(reason, str):
        raise ValueError(f"'reason' should be string, got {type(reason)}")
    return _optional_call(_unchanged, func)


def _runs_if(condition: Callable[[], bool], reason: str, name: str, func: Any) -> Any:
    def decorate(test: Test) -> Test:
        _refuse_classes(test, name)

        @functools.wraps(test)
        def conditional(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not condition():
                self.skipTest(reason)
            return test(self, *args, **kwargs)

        return conditional

    return _optional_call(decorate, func)


def run_v2_only(func: Any = None) -> Any:
    """Skips a test, which is for version 2 alone."""
    return _runs_if(lambda: False, "Test is only compatible with v2", "run_v2_only", func)


def run_gpu_only(func: Any = None) -> Any:
    """Skips a test where there is no GPU."""
    return _runs_if(is_gpu_available, "Test requires GPU", "run_gpu_only", func)


def run_cuda_only(func: Any = None) -> Any:
    """Skips a test where there is no CUDA GPU."""
    return _runs_if(is_gpu_available, "Test requires CUDA GPU", "run_cuda_only", func)


def also_run_as_tf_function(f: Test) -> Test:
    """Runs a test in eager mode, and as the body of a function."""

    @functools.wraps(f)
    def in_both_forms(*args: Any, **kwargs: Any) -> None:
        from penstock import function

        with eager_mode():
            f(*args, **kwargs)
            function(functools.partial(f, *args, **kwargs), autograph=False)()

    return in_both_forms


def build_as_function_and_v1_graph(func: Any = None) -> Any:
    """Runs a test of a parameterized test case in a graph of its own, and in a function's body."""

    def decorate(test: Test) -> Any:
        _refuse_classes(test, "run_in_graph_mode_and_function")

        @functools.wraps(test)
        def in_mode(self: Any, run_mode: str, *args: Any, **kwargs: Any) -> None:
            from penstock import function

            def body() -> None:
                test(self, *args, **kwargs)

            with Graph().as_default():
                if run_mode == "function":
                    function(body)()
                else:
                    body()

        named: Any = parameterized.named_parameters
        return named(("_v1_graph", "v1_graph"), ("_function", "function"))(in_mode)

    return _optional_call(decorate, func)


def eager_lazy_remote_copy_on_and_off(f: Test) -> Test:
    """A setting of eager execution: the test runs as it is."""
    return f


# Control flow -----------------------------------------------------------------------------------


def enable_control_flow_v2(fn: Test) -> Test:
    """Runs a test with conditionals and loops that are nodes which call functions."""

    @functools.wraps(fn)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        before = flow_modes.ENABLE_CONTROL_FLOW_V2
        flow_modes.ENABLE_CONTROL_FLOW_V2 = True
        try:
            return fn(*args, **kwargs)
        finally:
            flow_modes.ENABLE_CONTROL_FLOW_V2 = before

    return decorated


def with_control_flow_v2(cls: type) -> type:
    """Gives each test of a class a variant with functional control flow."""
    if flow_modes.ENABLE_CONTROL_FLOW_V2:
        return cls
    for name, value in list(vars(cls).items()):
        is_test = callable(value) and name.startswith(unittest.TestLoader.testMethodPrefix)
        if is_test and not getattr(value, "_disable_control_flow_v2", False):
            setattr(cls, f"{name}WithControlFlowV2", enable_control_flow_v2(value))
    return cls


def disable_control_flow_v2(unused_msg: Any) -> Callable[[Any], Any]:
    """Keeps a test from having a variant with functional control flow."""

    def mark(test: Any) -> Any:
        test._disable_control_flow_v2 = True
        return test

    return mark


def enable_output_all_intermediates(fn: Test) -> Test:
    """Runs a test that asks functional nodes for all values of their branches and bodies."""

    @functools.wraps(fn)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        before = functional_flow._EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE
        functional_flow.output_all_intermediates(True)
        try:
            return fn(*args, **kwargs)
        finally:
            functional_flow.output_all_intermediates(before)

    return decorated


enable_c_shapes = _unchanged
with_c_shapes = _unchanged


# Compilers and devices --------------------------------------------------------------------------

disable_xla = _always_runs
no_xla_auto_jit = _always_runs
xla_allow_fallback = _always_runs
enable_tf_xla_constant_folding = _always_runs
disable_all_xla = _always_runs


def for_all_test_methods(decorator: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A decorator of classes from one of methods: `for_all_test_methods(disable_xla, "…")`."""

    def decorate(cls: type) -> type:
        for name, test in _each_test_method(cls):
            setattr(cls, name, decorator(*args, **kwargs)(test))
        return cls

    return decorate


def use_deterministic_cudnn(func: Any) -> Any:
    """Runs a test while TF_CUDNN_DETERMINISTIC is set."""

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def deterministic(self: Any, *args: Any, **kwargs: Any) -> Any:
            before = os.environ.get("TF_CUDNN_DETERMINISTIC", "")
            os.environ["TF_CUDNN_DETERMINISTIC"] = "true"
            try:
                return test(self, *args, **kwargs)
            finally:
                os.environ["TF_CUDNN_DETERMINISTIC"] = before

        return deterministic

    return _optional_call(decorate, func)


# Conditions and combinations --------------------------------------------------------------------


def skip_if(condition: Any) -> Callable[[Test], Test]:
    """Leaves a test out if a condition, or what it returns when called, is true."""

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def conditional(*args: Any, **kwargs: Any) -> Any:
            if not (condition() if callable(condition) else condition):
                return test(*args, **kwargs)
            return None

        return conditional

    return decorate


@contextmanager
def skip_if_error(test_obj: Any, error_type: Any, messages: Any = None) -> Iterator[None]:
    """Skips the test if the block raises an error of a class, with one of these texts in it."""
    texts = [messages] if isinstance(messages, str) else list(messages or ())
    try:
        yield
    except error_type as error:
        if texts and not any(text in str(error) for text in texts):
            raise
        test_obj.skipTest(f"Skipping error: {type(error)}: {error}")


def with_forward_compatibility_horizons(*horizons: Any) -> Callable[[Test], Test]:
    """Runs a test once for each (year, month, day) of `tf.compat.forward_compatible`, or None."""

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def at_each_horizon(self: Any, *args: Any, **kwargs: Any) -> None:
            for horizon in horizons:
                if horizon is None:
                    test(self, *args, **kwargs)
                else:
                    with forward_compatibility_horizon(*horizon):
                        test(self, *args, **kwargs)

        return at_each_horizon

    return decorate


def generate_combinations_with_testcase_name(**kwargs: Any) -> list[OrderedDict[str, Any]]:
    """All combinations of the arguments' values, each with a `testcase_name`."""
    keys = sorted(kwargs)
    choices = [value if isinstance(value, list) else [value] for value in map(kwargs.get, keys)]
    return [
        OrderedDict([*zip(keys, values, strict=True), ("testcase_name", _case_name(keys, values))])
        for values in product(*choices)
    ]


def _case_name(keys: list[str], values: tuple[Any, ...]) -> str:
    def letters(value: Any) -> str:
        return "".join(filter(str.isalnum, str(value)))

    parts = zip(keys, values, strict=True)
    return "_test" + "".join(f"_{letters(key)}_{letters(value)}" for key, value in parts)
