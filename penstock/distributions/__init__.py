"""`tf.distributions`: probability distributions with samples, densities and statistics."""

from penstock.distributions.bernoulli import Bernoulli
from penstock.distributions.beta import Beta
from penstock.distributions.categorical import Categorical
from penstock.distributions.dirichlet import Dirichlet, DirichletMultinomial
from penstock.distributions.distribution import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
    ReparameterizationType,
)
from penstock.distributions.gamma import Exponential, Gamma
from penstock.distributions.kullback_leibler import RegisterKL, kl_divergence
from penstock.distributions.laplace import Laplace
from penstock.distributions.multinomial import Multinomial
from penstock.distributions.normal import Normal
from penstock.distributions.student_t import StudentT
from penstock.distributions.uniform import Uniform

__all__ = [
    "FULLY_REPARAMETERIZED",
    "NOT_REPARAMETERIZED",
    "Bernoulli",
    "Beta",
    "Categorical",
    "Dirichlet",
    "DirichletMultinomial",
    "Distribution",
    "Exponential",
    "Gamma",
    "Laplace",
    "Multinomial",
    "Normal",
    "RegisterKL",
    "ReparameterizationType",
    "StudentT",
    "Uniform",
    "kl_divergence",
]
