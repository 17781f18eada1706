"""Bijectors, and distributions made with them, for both modules `tf`: values by name."""

import numpy as np

X = np.array([[0.2, 0.7, 1.3], [2.1, 2.5, 3.4]], np.float32)  # increasing, positive
UNIT = np.array([[0.1, 0.4, 0.5], [0.3, 0.6, 0.9]], np.float32)
COUNTS = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], np.float32)


def bijectors(tf):
    """Bijectors with an argument and the dimensions of an event."""
    made = tf.contrib.distributions.bijectors
    tril = np.array([[2.0, 0, 0], [0.5, 3.0, 0], [1.0, -1.0, 0.5]], np.float32)
    return {
        "AffineScalar": (made.AffineScalar(1.5, 2.0), X, 0),
        "Affine": (made.Affine([1.0, 2.0, 3.0], scale_diag=[1.0, 2.0, 0.5]), X, 1),
        "Affine tril": (made.Affine(scale_identity_multiplier=0.5, scale_tril=tril), X, 1),
        "Chain": (made.Chain([made.Exp(), made.AffineScalar(scale=0.5)]), X, 1),
        "Chain centered": (made.Chain([made.SoftmaxCentered(), made.Softplus()]), X, 1),
        "Exp": (made.Exp(), X, 1),
        "Gumbel": (made.Gumbel(0.3, 2.0), X, 0),
        "Identity": (made.Identity(), X, 1),
        "Invert": (made.Invert(made.Exp()), X, 1),
        "Kumaraswamy": (made.Kumaraswamy(2.0, 1.5), UNIT, 0),
        "Ordered": (made.Ordered(), X, 1),
        "Permute": (made.Permute([2, 0, 1]), X, 1),
        "PowerTransform": (made.PowerTransform(0.7), X, 0),
        "Sigmoid": (made.Sigmoid(), X, 1),
        "SinhArcsinh": (made.SinhArcsinh(0.3, 1.2), X, 0),
        "SoftmaxCentered": (made.SoftmaxCentered(), X, 1),
        "Softplus": (made.Softplus(), X, 2),
        "Softplus softer": (made.Softplus(hinge_softness=0.5), X, 0),
        "Softsign": (made.Softsign(), X, 0),
        "Square": (made.Square(), X, 1),
        "Weibull": (made.Weibull(2.0, 1.5), X, 0),
    }


def distributions(tf):
    """Distributions, a value, and what is asked of them."""
    made, rate = tf.contrib.distributions, [0.5, 1.5, 2.5]
    exp = made.bijectors.Exp()
    plain = "mean variance mode entropy"
    return {
        "Binomial": (made.Binomial(6.0, probs=[0.2, 0.5, 0.7]), COUNTS, "cdf mean variance mode"),
        "Chi2": (made.Chi2([1.0, 3.0, 4.0]), X, "cdf mean variance entropy"),
        "Deterministic": (made.Deterministic([0.2, 2.5, 1.0], atol=0.1), X, f"cdf {plain}"),
        "Geometric": (made.Geometric(probs=[0.2, 0.5, 0.7]), COUNTS, f"cdf {plain}"),
        "HalfNormal": (made.HalfNormal(rate), X, f"cdf {plain}"),
        "InverseGamma": (made.InverseGamma([2.5, 3.0, 4.0], rate), X, f"cdf {plain}"),
        "Kumaraswamy": (made.Kumaraswamy([1.5, 2.0, 0.5], 1.5), UNIT, "cdf mean variance"),
        "NegativeBinomial": (
            made.NegativeBinomial([2.0, 3.0, 4.0], probs=[0.2, 0.5, 0.7]),
            COUNTS,
            "mean variance mode",
        ),
        "RelaxedBernoulli": (made.RelaxedBernoulli(0.7, probs=[0.2, 0.5, 0.7]), UNIT, "cdf"),
        "log normal": (
            made.TransformedDistribution(made.Normal([0.1, 0.2, 0.3], 1.0), exp),
            X,
            "cdf survival_function",
        ),
        "vector of a scalar": (
            made.TransformedDistribution(
                made.Normal(0.0, 1.0),
                made.bijectors.AffineScalar(1.0, 2.0),
                batch_shape=[2],
                event_shape=[3],
            ),
            X,
            "entropy",
        ),
    }


def values(tf):
    found = {}
    for name, (bijector, x, ndims) in bijectors(tf).items():
        y = bijector.forward(x)
        found[f"{name}/forward"] = y
        found[f"{name}/inverse"] = bijector.inverse(tf.identity(y))
        found[f"{name}/forward log det"] = bijector.forward_log_det_jacobian(x, ndims)
        found[f"{name}/inverse log det"] = bijector.inverse_log_det_jacobian(tf.identity(y), ndims)
    for name, (distribution, x, asked) in distributions(tf).items():
        found[f"{name}/log_prob"] = distribution.log_prob(x)
        found[f"{name}/prob"] = distribution.prob(x)
        for method in asked.split():
            takes_value = method in ("cdf", "survival_function")
            found[f"{name}/{method}"] = getattr(distribution, method)(*([x] * takes_value))
    with tf.Session() as sess:
        return sess.run(found)
