"""What tests of heads share: variables at their first values, and claims about a head's spec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import penstock as tf
from penstock.saved_model.signature_constants import (
    DEFAULT_SERVING_SIGNATURE_DEF_KEY as _DEFAULT_SERVING_KEY,
)

__all__ = [
    "_DEFAULT_SERVING_KEY",
    "_assert_no_hooks",
    "_assert_simple_summaries",
    "_initialize_variables",
]


def _initialize_variables(test_case: Any, scaffold: Any) -> None:
    """Does in the default session what a monitored session does with a scaffold at its start."""
    scaffold.finalize()
    test_case.assertIsNone(scaffold.init_feed_dict)
    test_case.assertIsNone(scaffold.init_fn)
    for prepare, is_ready in (
        (scaffold.init_op, scaffold.ready_for_local_init_op),
        (scaffold.local_init_op, scaffold.ready_op),
    ):
        prepare.run()
        is_ready.eval()
    test_case.assertIsNotNone(scaffold.saver)


def _assert_simple_summaries(
    test_case: Any, expected_summaries: Mapping[str, float], summary_str: bytes, tol: float = 1e-6
) -> None:
    """Fails unless a serialized summary has these tags with these scalars, and no others."""
    found = tf.Summary.FromString(summary_str).value
    scalars = {value.tag: value.simple_value for value in found}
    test_case.assertAllClose(expected_summaries, scalars, rtol=tol, atol=tol)


def _assert_no_hooks(test_case: Any, spec: Any) -> None:
    """Fails if training with a spec would run hooks of its own."""
    for hooks in (spec.training_chief_hooks, spec.training_hooks):
        test_case.assertAllEqual([], hooks)
