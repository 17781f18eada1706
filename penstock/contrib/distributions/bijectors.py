"""`tf.contrib.distributions.bijectors`."""

from penstock.contrib.distributions.vector_bijectors import (
    Affine,
    Ordered,
    Permute,
    SoftmaxCentered,
)
from penstock.contrib.lazy_paths import resolver
from penstock.distributions.bijector import Bijector
from penstock.distributions.plain_bijectors import (
    AffineScalar,
    Chain,
    Exp,
    Gumbel,
    Identity,
    Inline,
    Invert,
    Kumaraswamy,
    PowerTransform,
    Sigmoid,
    SinhArcsinh,
    Softplus,
    Softsign,
    Square,
    Weibull,
)

__getattr__ = resolver(__name__)

__all__ = [
    "Affine",
    "AffineScalar",
    "Bijector",
    "Chain",
    "Exp",
    "Gumbel",
    "Identity",
    "Inline",
    "Invert",
    "Kumaraswamy",
    "Ordered",
    "Permute",
    "PowerTransform",
    "Sigmoid",
    "SinhArcsinh",
    "SoftmaxCentered",
    "Softplus",
    "Softsign",
    "Square",
    "Weibull",
]
