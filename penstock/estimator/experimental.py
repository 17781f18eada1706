"""`tf.estimator.experimental`."""

import importlib
from typing import Any

from penstock.estimator.canned.logits import (
    call_logit_fn,
    dnn_logit_fn_builder,
    linear_logit_fn_builder,
)
from penstock.estimator.early_stopping import (
    make_early_stopping_hook,
    stop_if_higher_hook,
    stop_if_lower_hook,
    stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)
from penstock.estimator.evaluator_hooks import (
    InMemoryEvaluatorHook,
    make_stop_at_checkpoint_step_hook,
)
from penstock.estimator.export.receivers import build_raw_supervised_input_receiver_fn
from penstock.estimator.sdca.linear_sdca import LinearSDCA
from penstock.estimator.trees.estimators import (
    boosted_trees_classifier_train_in_memory,
    boosted_trees_regressor_train_in_memory,
)

__all__ = [
    "InMemoryEvaluatorHook",
    "LinearSDCA",
    "boosted_trees_classifier_train_in_memory",
    "boosted_trees_regressor_train_in_memory",
    "build_raw_supervised_input_receiver_fn",
    "call_logit_fn",
    "dnn_logit_fn_builder",
    "linear_logit_fn_builder",
    "make_early_stopping_hook",
    "make_stop_at_checkpoint_step_hook",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
]


def __getattr__(name: str) -> Any:
    if name == "KMeans":  # of tf.contrib, which most programs with estimators do without
        return importlib.import_module("penstock.estimator.clustering").KMeansClustering
    raise AttributeError(name)
