"""`tf.contrib.distributions.bijectors`."""

from penstock.contrib.distributions.affine import Affine
from penstock.contrib.distributions.conditional import ConditionalBijector
from penstock.contrib.distributions.flows import (
    BatchNormalization,
    MaskedAutoregressiveFlow,
    RealNVP,
    masked_autoregressive_default_template,
    masked_dense,
    real_nvp_default_template,
)
from penstock.contrib.distributions.matrix_bijectors import (
    CholeskyOuterProduct,
    FillTriangular,
    MatrixInverseTriL,
    ScaleTriL,
    TransformDiagonal,
)
from penstock.contrib.distributions.shape_bijectors import (
    AbsoluteValue,
    AffineLinearOperator,
    Reshape,
)
from penstock.contrib.distributions.vector_bijectors import (
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
    "AbsoluteValue",
    "Affine",
    "AffineLinearOperator",
    "AffineScalar",
    "BatchNormalization",
    "Bijector",
    "Chain",
    "CholeskyOuterProduct",
    "ConditionalBijector",
    "Exp",
    "FillTriangular",
    "Gumbel",
    "Identity",
    "Inline",
    "Invert",
    "Kumaraswamy",
    "MaskedAutoregressiveFlow",
    "MatrixInverseTriL",
    "Ordered",
    "Permute",
    "PowerTransform",
    "RealNVP",
    "Reshape",
    "ScaleTriL",
    "Sigmoid",
    "SinhArcsinh",
    "SoftmaxCentered",
    "Softplus",
    "Softsign",
    "Square",
    "TransformDiagonal",
    "Weibull",
    "masked_autoregressive_default_template",
    "masked_dense",
    "real_nvp_default_template",
]
