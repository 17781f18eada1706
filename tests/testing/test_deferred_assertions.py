"""Assertions about arrays in the body of a function are made when the function runs."""

from __future__ import annotations

import pytest

import penstock as tf
from penstock.eager.context import eager_mode
from penstock.testing.test_util import also_run_as_tf_function


class Case(tf.test.TestCase):
    def runTest(self) -> None:
        """The methods are called by the tests below."""

    @also_run_as_tf_function
    def both_ways(self) -> None:
        self.assertAllEqual(tf.constant([1, 2]) + 1, [2, 3])


@pytest.mark.parametrize(
    ("assertion", "message"),
    [("assertAllEqual", "Arrays are not equal"), ("assertAllClose", "Not equal to tolerance")],
)
def test_a_failure_is_an_error_of_the_run(assertion: str, message: str) -> None:
    case, calls = Case(), []

    @tf.function
    def check(x):
        calls.append("traced")
        getattr(case, assertion)(x, [1, 2])

    with eager_mode():
        check(tf.constant([1, 2]))
        with pytest.raises(Exception, match=message):
            check(tf.constant([1, 3]))
    assert calls == ["traced"]


def test_a_test_that_runs_in_both_forms() -> None:
    Case().both_ways()
