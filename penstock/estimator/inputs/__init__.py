"""`tf.estimator.inputs`: arrays and data frames as the input of an Estimator."""

from penstock.estimator.inputs.numpy_io import numpy_input_fn
from penstock.estimator.inputs.pandas_io import pandas_input_fn

__all__ = ["numpy_input_fn", "pandas_input_fn"]
