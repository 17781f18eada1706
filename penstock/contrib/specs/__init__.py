"""`tf.contrib.specs`: networks described by short expressions, `Cr(64, [5, 5]) | Mp([2, 2])`."""

from __future__ import annotations

from penstock.contrib import lazy_paths
from penstock.contrib.specs.building import (
    LocalImport,
    create_net,
    create_net_fun,
    eval_params,
    eval_spec,
    ops,
)
from penstock.contrib.specs.composition import (
    Callable,
    Composable,
    Composition,
    Function,
    Operator,
    check_keywords,
    get_positional,
)
from penstock.contrib.specs.operators import *  # noqa: F403  (the words of specs)
from penstock.contrib.specs.parameters import Lf, Li, Nt, Uf, Ui
from penstock.contrib.specs.summaries import (
    tf_left_split,
    tf_num_params,
    tf_parameter_iter,
    tf_parameter_summary,
    tf_print,
    tf_spec_print,
    tf_spec_structure,
    tf_spec_summary,
    tf_structure,
)

__all__ = [
    "Callable",
    "Composable",
    "Composition",
    "Function",
    "Lf",
    "Li",
    "LocalImport",
    "Nt",
    "Operator",
    "Uf",
    "Ui",
    "check_keywords",
    "create_net",
    "create_net_fun",
    "eval_params",
    "eval_spec",
    "get_positional",
    "ops",
    "tf_left_split",
    "tf_num_params",
    "tf_parameter_iter",
    "tf_parameter_summary",
    "tf_print",
    "tf_spec_print",
    "tf_spec_structure",
    "tf_spec_summary",
    "tf_structure",
]

__getattr__ = lazy_paths.resolver(__name__)
