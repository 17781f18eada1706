"""Tests that run for several kinds of Keras models and in several modes of execution.

TensorFlow's `keras_parameterized`.
"""

from __future__ import annotations

import functools
import itertools
import unittest
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from absl.testing import parameterized

from penstock import keras
from penstock.eager import context
from penstock.ir.nest import flatten
from penstock.platform import tf2
from penstock.testing import keras_models
from penstock.testing.test_case import TensorFlowTestCase

__all__ = ["TestCase", "run_all_keras_modes", "run_with_all_model_types"]

Test = Callable[..., Any]


class TestCase(TensorFlowTestCase, parameterized.TestCase):
    """A test case that leaves no Keras session behind."""

    def tearDown(self) -> None:
        keras.backend.clear_session()
        super().tearDown()


def run_with_all_model_types(test_or_class: Any = None, exclude_models: Any = None) -> Any:
    """Runs a test, or each of a class, with `get_model_type()` of each kind of model.

    Args:
      test_or_class: what is decorated; without it, a decorator is returned.
      exclude_models: a kind, or several, that are left out.
    """
    left_out = flatten(exclude_models)
    kinds = [kind for kind in ("functional", "subclass", "sequential") if kind not in left_out]
    named: Any = parameterized.named_parameters

    def decorate(test: Test) -> Any:
        @functools.wraps(test)
        def run(self: Any, model_type: str, *args: Any, **kwargs: Any) -> None:
            with keras_models.model_type_scope(model_type):
                test(self, *args, **kwargs)

        return named(*((f"_{kind}", kind) for kind in kinds))(run)

    return _decorated(test_or_class, decorate)


def run_all_keras_modes(
    test_or_class: Any = None,
    config: Any = None,
    always_skip_v1: bool = False,
    always_skip_eager: bool = False,
) -> Any:
    """Runs a test, or each of a class, in a session and, in three ways, in eager mode.

    Args:
      test_or_class: what is decorated; without it, a decorator is returned.
      config: the session's ConfigProto.
      always_skip_v1: the test is for eager execution alone.
      always_skip_eager: the test is not for models that run eagerly.
    """
    left_out = {"v1_session"} if always_skip_v1 or tf2.enabled() else set()
    if always_skip_eager:
        left_out.add("v2_eager")
    named: Any = parameterized.named_parameters

    def decorate(test: Test) -> Any:
        @functools.wraps(test)
        def run(self: Any, run_mode: str, *args: Any, **kwargs: Any) -> None:
            with _mode_scope(self, run_mode, config):
                test(self, *args, **kwargs)

        return named(*((f"_{mode}", mode) for mode in _MODES if mode not in left_out))(run)

    return _decorated(test_or_class, decorate)


#: Of each mode of execution: whether models run eagerly, and whether steps are functions.
_MODES = {
    "v2_function": (False, True),
    "v2_funcgraph": (False, False),
    "v2_eager": (True, True),
    "v1_session": (False, False),
}


@contextmanager
def _mode_scope(case: Any, mode: str, config: Any) -> Iterator[None]:
    eagerly, as_functions = _MODES[mode]
    with (
        keras_models.run_eagerly_scope(eagerly),
        keras_models.experimental_run_tf_function_scope(as_functions),
    ):
        if mode != "v1_session":
            with context.eager_mode():
                yield
            return
        with context.graph_mode(), case.test_session(use_gpu=True, config=config):
            yield


def _decorated(test_or_class: Any, decorate: Callable[[Test], Any]) -> Any:
    """Decorates a test, the tests that other decorators made of one, or those of a class."""

    def apply(target: Any) -> Any:
        if isinstance(target, type):
            return _decorated_class(target, decorate)
        if isinstance(target, Iterable):
            return itertools.chain.from_iterable(decorate(each) for each in target)
        return decorate(target)

    return apply if test_or_class is None else apply(test_or_class)


def _decorated_class(cls: type, decorate: Callable[[Test], Any]) -> type:
    for name, value in list(vars(cls).items()):
        if callable(value) and name.startswith(unittest.TestLoader.testMethodPrefix):
            setattr(cls, name, decorate(value))
    # Made anew, for the metaclass of parameterized tests spreads them when it makes a class.
    members = {
        name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")
    }
    return type(cls)(cls.__name__, cls.__bases__, members)
