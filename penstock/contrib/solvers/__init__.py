"""`tf.contrib.solvers`: linear systems solved step by step, by products with vectors alone."""

from penstock.contrib import lazy_paths

__getattr__ = lazy_paths.resolver(
    __name__,
    {
        "least_squares": "contrib.solvers.conjugate_gradients",
        "linear_equations": "contrib.solvers.conjugate_gradients",
        "util": "contrib.solvers.operators",
    },
)
