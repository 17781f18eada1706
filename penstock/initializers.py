"""`tf.initializers`: initializers by their short names."""

from penstock.ops import initializers as _initializers
from penstock.ops import orthogonal_initializers as _orthogonal
from penstock.ops import variable_collections as _collections
from penstock.ops.initializers import he_normal, he_uniform, lecun_normal, lecun_uniform
from penstock.ops.lookup_tables import tables_initializer

__all__ = [
    "constant",
    "global_variables",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "identity",
    "lecun_normal",
    "lecun_uniform",
    "local_variables",
    "ones",
    "orthogonal",
    "random_normal",
    "random_uniform",
    "tables_initializer",
    "truncated_normal",
    "uniform_unit_scaling",
    "variables",
    "variance_scaling",
    "zeros",
]

constant = _initializers.Constant
glorot_normal = _initializers.GlorotNormal
glorot_uniform = _initializers.GlorotUniform
identity = _initializers.Identity
ones = _initializers.Ones
orthogonal = _orthogonal.Orthogonal
random_normal = _initializers.RandomNormal
random_uniform = _initializers.RandomUniform
truncated_normal = _initializers.TruncatedNormal
uniform_unit_scaling = _initializers.UniformUnitScaling
variance_scaling = _initializers.VarianceScaling
zeros = _initializers.Zeros

global_variables = _collections.global_variables_initializer
local_variables = _collections.local_variables_initializer
variables = _collections.variables_initializer
