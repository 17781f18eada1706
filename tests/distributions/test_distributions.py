"""`tf.distributions` against what TensorFlow says, and what is checked of arguments."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.distributions import special_math
from tests.distributions.observations import observe

RECORDED: dict[str, Any] = json.loads(Path(__file__).with_name("recorded.json").read_text())
d = tf.distributions


@pytest.fixture(scope="module")
def observed() -> dict[str, Any]:
    return observe(tf)


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetch: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetch)


@pytest.mark.parametrize("question", RECORDED)
def test_answers_are_tensorflows(question: str, observed: dict[str, Any]) -> None:
    ours, theirs = observed[question], RECORDED[question]
    if isinstance(theirs, str) or question.endswith("facts"):
        assert ours == theirs
    else:
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=1e-6)


def test_nothing_else_is_asked(observed: dict[str, Any]) -> None:
    assert observed.keys() == RECORDED.keys()


@pytest.mark.parametrize(
    "make",
    [
        lambda: d.Normal(0.0, -1.0, validate_args=True).mean(),
        lambda: d.Uniform(2.0, 1.0, validate_args=True).mean(),
        lambda: d.Gamma(0.0, 1.0, validate_args=True).mean(),
        lambda: d.Beta(-1.0, 1.0, validate_args=True).mean(),
        lambda: d.Bernoulli(probs=[1.5], validate_args=True).mean(),
        lambda: d.Bernoulli(probs=[0.5], validate_args=True).log_prob([2]),
        lambda: d.Categorical(probs=[0.5, 0.6], validate_args=True).entropy(),
        lambda: d.Dirichlet([1.0, 2.0], validate_args=True).log_prob([0.5, 0.6]),
        lambda: d.Multinomial(3.0, probs=[0.5, 0.5], validate_args=True).log_prob([1.0, 1.0]),
        lambda: d.StudentT(0.5, 0.0, 1.0, allow_nan_stats=False).mean(),
        lambda: d.Gamma(0.5, 1.0, allow_nan_stats=False).mode(),
    ],
)
def test_bad_arguments_are_refused(make: Any) -> None:
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        run(make())


def test_a_parameter_is_given_in_one_form() -> None:
    with pytest.raises(ValueError, match="Must pass probs or logits, but not both"):
        d.Bernoulli(logits=[0.0], probs=[0.5])
    with pytest.raises(ValueError, match="Must pass probs or logits, but not both"):
        d.Categorical()


def test_gradients_flow_through_samples() -> None:
    loc, scale = tf.constant(1.0), tf.constant(2.0)
    sample = d.Normal(loc, scale).sample(seed=3)
    to_loc, to_scale, drawn = run([*tf.gradients(sample, [loc, scale]), sample])
    assert to_loc == 1
    np.testing.assert_allclose(to_scale, (drawn - 1) / 2, rtol=1e-5)
    assert d.Normal(loc, scale).reparameterization_type is d.FULLY_REPARAMETERIZED
    assert d.Bernoulli(0.0).reparameterization_type == d.NOT_REPARAMETERIZED


def test_log_ndtr_is_exact_in_the_tail() -> None:
    x = tf.constant([-200.0, -15.0, -1.0, 3.0, 9.0], tf.float64)
    value = special_math.log_ndtr(x, series_order=10)
    expected = [-20006.217280898, -116.131384775, -1.841021645, -0.001350810, -1.1285884e-19]
    np.testing.assert_allclose(run(value), expected, rtol=1e-6)
    assert np.isfinite(run(tf.gradients(value, x)[0])).all()


def test_divergences_are_found_by_kind() -> None:
    class Mine(d.Normal):  # type: ignore[name-defined]
        pass

    assert run(d.kl_divergence(Mine(0.0, 1.0), d.Normal(0.0, 1.0))) == 0
    with pytest.raises(NotImplementedError, match="No KL"):
        d.kl_divergence(d.Normal(0.0, 1.0), d.Uniform())

    @d.RegisterKL(Mine, d.Uniform)
    def _(a: Any, b: Any, name: str | None = None) -> Any:
        return tf.constant(np.nan)

    with pytest.raises(tf.errors.InvalidArgumentError, match="returned NaN"):
        run(d.kl_divergence(Mine(0.0, 1.0), d.Uniform(), allow_nan_stats=False))
    with pytest.raises(ValueError, match="already been registered"):
        d.RegisterKL(Mine, d.Uniform)(lambda a, b: None)


def test_a_subclass_uses_what_it_defines() -> None:
    class Constant(d.Distribution):  # type: ignore[name-defined,misc]
        def __init__(self, value: float, name: str = "Constant"):
            super().__init__(tf.float32, d.NOT_REPARAMETERIZED, False, True, name=name)
            self.value = value

        def _stddev(self) -> Any:
            return tf.constant(3.0)

        def _log_cdf(self, x: Any) -> Any:
            return tf.zeros_like(x)

    one = Constant(2.0)
    assert one.parameters == {"value": 2.0, "name": "Constant"}
    assert one.copy(value=4.0).value == 4.0
    assert run([one.variance(), one.cdf(1.0), one.survival_function(1.0)]) == [9, 1, 0]
    with pytest.raises(NotImplementedError, match="mean is not implemented: Constant"):
        one.mean()


def test_arguments_can_be_inspected() -> None:
    arguments = inspect.getfullargspec(tf.distributions.Normal.__init__).args
    assert arguments == ["self", "loc", "scale", "validate_args", "allow_nan_stats", "name"]
