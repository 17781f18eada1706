"""Tests that run for several kinds of Keras models: TensorFlow's `keras_parameterized`.

Penstock runs graphs: of the modes of execution there is one, that of sessions.
"""

from __future__ import annotations

import functools
import itertools
import unittest
from collections.abc import Callable, Iterable
from typing import Any

from absl.testing import parameterized

from penstock import keras
from penstock.ir.nest import flatten
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
    """Runs a test, or each of a class, in a session.

    Args:
      test_or_class: what is decorated; without it, a decorator is returned.
      config: the session's ConfigProto.
      always_skip_v1: the test is for eager execution alone, and skipped.
      always_skip_eager: the test is for graphs alone.
    """
    named: Any = parameterized.named_parameters

    def decorate(test: Test) -> Any:
        @functools.wraps(test)
        def run(self: Any, run_mode: str, *args: Any, **kwargs: Any) -> None:
            if always_skip_v1:
                self.skipTest("it is for eager execution, and Penstock runs graphs")
            scopes = (
                keras_models.run_eagerly_scope(False),
                keras_models.experimental_run_tf_function_scope(False),
            )
            with scopes[0], scopes[1], self.test_session(use_gpu=True, config=config):
                test(self, *args, **kwargs)

        return named(("_v1_session", "v1_session"))(run)

    return _decorated(test_or_class, decorate)


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
