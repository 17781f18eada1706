"""`tf.contrib.distributions`: those of `tf.distributions`, and further ones."""

from typing import Any

from penstock.contrib.distributions import bijectors
from penstock.contrib.distributions.batch_reshape import BatchReshape
from penstock.contrib.distributions.composed import Independent, Mixture
from penstock.contrib.distributions.conditional import (
    ConditionalDistribution,
    ConditionalTransformedDistribution,
)
from penstock.contrib.distributions.counts import Binomial, Geometric, NegativeBinomial
from penstock.contrib.distributions.diffeomixture import VectorDiffeomixture
from penstock.contrib.distributions.mixtures import (
    Autoregressive,
    MixtureSameFamily,
    QuantizedDistribution,
)
from penstock.contrib.distributions.multivariate_normal import (
    MultivariateNormalDiag,
    MultivariateNormalDiagPlusLowRank,
    MultivariateNormalDiagWithSoftplusScale,
    MultivariateNormalFullCovariance,
    MultivariateNormalTriL,
)
from penstock.contrib.distributions.normal_conjugates import (
    normal_conjugates_known_scale_posterior,
    normal_conjugates_known_scale_predictive,
)
from penstock.contrib.distributions.one_hot import (
    ExpRelaxedOneHotCategorical,
    OneHotCategorical,
    RelaxedOneHotCategorical,
)
from penstock.contrib.distributions.positive import (
    Chi2,
    Chi2WithAbsDf,
    Deterministic,
    HalfNormal,
    InverseGamma,
    InverseGammaWithSoftplusConcentrationRate,
    Kumaraswamy,
    RelaxedBernoulli,
    VectorDeterministic,
)
from penstock.contrib.distributions.quadratures import (
    PoissonLogNormalQuadratureCompound,
    quadrature_scheme_lognormal_gauss_hermite,
    quadrature_scheme_lognormal_quantiles,
    quadrature_scheme_softmaxnormal_gauss_hermite,
    quadrature_scheme_softmaxnormal_quantiles,
)
from penstock.contrib.distributions.sample_statistics import (
    assign_log_moving_mean_exp,
    assign_moving_mean_variance,
    auto_correlation,
    moving_mean_variance,
    percentile,
)
from penstock.contrib.distributions.scalars import Cauchy, Logistic, Poisson
from penstock.contrib.distributions.seed_stream import SeedStream
from penstock.contrib.distributions.transformed_vectors import (
    SinhArcsinh,
    VectorExponentialDiag,
    VectorExponentialLinearOperator,
    VectorLaplaceDiag,
    VectorLaplaceLinearOperator,
    VectorSinhArcsinhDiag,
)
from penstock.contrib.distributions.wishart import WishartCholesky, WishartFull
from penstock.contrib.lazy_paths import resolver
from penstock.distributions import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    DirichletMultinomial,
    Distribution,
    Exponential,
    Gamma,
    Laplace,
    Multinomial,
    Normal,
    RegisterKL,
    ReparameterizationType,
    StudentT,
    Uniform,
    kl_divergence,
)
from penstock.distributions.bernoulli import BernoulliWithSigmoidProbs
from penstock.distributions.beta import BetaWithSoftplusConcentration
from penstock.distributions.gamma import (
    ExponentialWithSoftplusRate,
    GammaWithSoftplusConcentrationRate,
)
from penstock.distributions.laplace import LaplaceWithSoftplusScale
from penstock.distributions.normal import NormalWithSoftplusScale
from penstock.distributions.student_t import StudentTWithAbsDfSoftplusScale
from penstock.distributions.transformed import TransformedDistribution
from penstock.distributions.triangular import (
    fill_triangular,
    fill_triangular_inverse,
    matrix_diag_transform,
    reduce_weighted_logsumexp,
    softplus_inverse,
    tridiag,
)

MVNDiag = MultivariateNormalDiag

_look_up = resolver(__name__)

__all__ = [
    "FULLY_REPARAMETERIZED",
    "NOT_REPARAMETERIZED",
    "Autoregressive",
    "BatchReshape",
    "Bernoulli",
    "BernoulliWithSigmoidProbs",
    "Beta",
    "BetaWithSoftplusConcentration",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "Chi2WithAbsDf",
    "ConditionalDistribution",
    "ConditionalTransformedDistribution",
    "Deterministic",
    "Dirichlet",
    "DirichletMultinomial",
    "Distribution",
    "ExpRelaxedOneHotCategorical",
    "Exponential",
    "ExponentialWithSoftplusRate",
    "Gamma",
    "GammaWithSoftplusConcentrationRate",
    "Geometric",
    "HalfNormal",
    "Independent",
    "InverseGamma",
    "InverseGammaWithSoftplusConcentrationRate",
    "Kumaraswamy",
    "Laplace",
    "LaplaceWithSoftplusScale",
    "Logistic",
    "MVNDiag",
    "Mixture",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormalDiag",
    "MultivariateNormalDiagPlusLowRank",
    "MultivariateNormalDiagWithSoftplusScale",
    "MultivariateNormalFullCovariance",
    "MultivariateNormalTriL",
    "NegativeBinomial",
    "Normal",
    "NormalWithSoftplusScale",
    "OneHotCategorical",
    "Poisson",
    "PoissonLogNormalQuadratureCompound",
    "QuantizedDistribution",
    "RegisterKL",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "ReparameterizationType",
    "SeedStream",
    "SinhArcsinh",
    "StudentT",
    "StudentTWithAbsDfSoftplusScale",
    "TransformedDistribution",
    "Uniform",
    "VectorDeterministic",
    "VectorDiffeomixture",
    "VectorExponentialDiag",
    "VectorExponentialLinearOperator",
    "VectorLaplaceDiag",
    "VectorLaplaceLinearOperator",
    "VectorSinhArcsinhDiag",
    "WishartCholesky",
    "WishartFull",
    "assign_log_moving_mean_exp",
    "assign_moving_mean_variance",
    "auto_correlation",
    "bijectors",
    "fill_triangular",
    "fill_triangular_inverse",
    "kl_divergence",
    "matrix_diag_transform",
    "moving_mean_variance",
    "normal_conjugates_known_scale_posterior",
    "normal_conjugates_known_scale_predictive",
    "percentile",
    "quadrature_scheme_lognormal_gauss_hermite",
    "quadrature_scheme_lognormal_quantiles",
    "quadrature_scheme_softmaxnormal_gauss_hermite",
    "quadrature_scheme_softmaxnormal_quantiles",
    "reduce_weighted_logsumexp",
    "softplus_inverse",
    "tridiag",
]


def __getattr__(name: str) -> Any:
    if name == "estimator_head_distribution_regression":  # of another package, seldom asked for
        from penstock.contrib.learn import distribution_head

        return distribution_head.estimator_head_distribution_regression
    return _look_up(name)
