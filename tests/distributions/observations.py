"""What a TensorFlow 1.x API says of distributions: the same questions for every library."""

from __future__ import annotations

from typing import Any

import numpy as np

OF_VALUE = ("log_prob", "prob", "cdf", "log_cdf", "survival_function", "log_survival_function")
STATISTICS = (
    *("mean", "variance", "stddev", "mode", "entropy", "covariance"),
    *("batch_shape_tensor", "event_shape_tensor", "is_scalar_batch", "is_scalar_event"),
)


def _made(d: Any) -> dict[str, tuple[Any, Any]]:
    """Distributions and a value of each."""
    f = np.float32
    return {
        "Normal": (d.Normal(f([1, -2, 0]), f(2)), f([0.5, 1, -30])),
        "Normal of doubles": (d.Normal(np.array([1.0, -2]), np.ones(2)), np.array([0.5, -90])),
        "Uniform": (d.Uniform(f([0, 1]), f([3, 2])), f([1.5, 5])),
        "Bernoulli of logits": (d.Bernoulli(logits=f([0.3, -2])), np.array([1, 0])),
        "Bernoulli of probs": (d.Bernoulli(probs=f([0.3, 0.9])), np.array([1, 0])),
        "Beta": (d.Beta(f([2, 0.5]), f(3)), f([0.2, 0.9])),
        "Categorical": (d.Categorical(logits=f([[0.3, -2, 1], [0, 1, 2]])), np.array([2, 0])),
        "Dirichlet": (d.Dirichlet(f([2, 3, 4])), f([0.2, 0.3, 0.5])),
        "DirichletMultinomial": (d.DirichletMultinomial(f(4), f([2, 3, 4])), f([1, 1, 2])),
        "Exponential": (d.Exponential(f([1, 2])), f([0.5, 3])),
        "Gamma": (d.Gamma(f([0.5, 2]), f([1, 3])), f([0.5, 3])),
        "Laplace": (d.Laplace(f([0, 1]), f([1, 3])), f([0.5, -3])),
        "Multinomial": (d.Multinomial(f([4, 3]), f([0.1, 0.2, 1])), f([[1, 1, 2], [0, 3, 0]])),
        "StudentT": (d.StudentT(f([0.5, 1.5, 4]), f(1), f(2)), f([0.5, -3, 1])),
    }


def observe(tf: Any) -> dict[str, Any]:
    """All answers as JSON; an answer that is missing in the library is its message."""
    found: dict[str, Any] = {}
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(5)
        for name, (x, value) in _made(tf.distributions).items():
            other = x.copy(name="other")
            half = np.asarray(0.3, x.dtype.as_numpy_dtype)
            questions = {key: lambda k=key, x=x, v=value: getattr(x, k)(v) for key in OF_VALUE}
            questions |= {key: lambda k=key, x=x: getattr(x, k)() for key in STATISTICS}
            questions |= {
                "quantile": lambda x=x, p=half: x.quantile(p),
                "sample": lambda x=x: x.sample([2, 3], seed=11),
                "kl": lambda x=x, y=other: tf.distributions.kl_divergence(x, y),
                "cross entropy": lambda x=x, y=other: x.cross_entropy(y),
            }
            for key, ask in questions.items():
                found[f"{name}: {key}"] = _answer(session, ask)
            found[f"{name}: facts"] = _facts(x)
    return found


def _answer(session: Any, ask: Any) -> Any:
    try:
        return np.asarray(session.run(ask())).tolist()
    except NotImplementedError as error:
        return str(error)


def _facts(x: Any) -> list[Any]:
    try:
        shapes = {k: s.as_list() for k, s in sorted(x.param_static_shapes([2, 3]).items())}
    except NotImplementedError as error:
        shapes = {"error": str(error)}
    sampled = [x.sample(3).shape.as_list(), x.sample([2, 3]).shape.as_list()]
    return [str(x), repr(x), x.name, x.dtype.name, sorted(x.parameters), sampled, shapes]
