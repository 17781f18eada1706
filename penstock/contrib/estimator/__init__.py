"""`tf.contrib.estimator`: heads, early stopping and other additions to `tf.estimator`."""

from penstock.contrib.estimator.heads import (
    binary_classification_head,
    logistic_regression_head,
    multi_class_head,
    multi_head,
    multi_label_head,
    poisson_regression_head,
    regression_head,
)
from penstock.contrib.estimator.layer_annotations import (
    DNNClassifierWithLayerAnnotations,
    DNNRegressorWithLayerAnnotations,
)
from penstock.contrib.estimator.recurrent import RNNClassifier, RNNEstimator
from penstock.contrib.estimator.replication import replicate_model_fn
from penstock.contrib.estimator.saved_models import (
    build_supervised_input_receiver_fn_from_input_fn,
    export_all_saved_models,
    export_saved_model_for_mode,
)
from penstock.contrib.estimator.tower_optimizer import TowerOptimizer
from penstock.contrib.lazy_paths import resolver
from penstock.estimator.canned.estimators import (
    BaselineEstimator,
    DNNEstimator,
    DNNLinearCombinedEstimator,
    LinearEstimator,
)
from penstock.estimator.canned.logits import (
    call_logit_fn,
    dnn_logit_fn_builder,
    linear_logit_fn_builder,
)
from penstock.estimator.early_stopping import (
    make_early_stopping_hook,
    read_eval_metrics,
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
from penstock.estimator.extenders import add_metrics, clip_gradients_by_norm, forward_features
from penstock.estimator.saved_model_estimator import SavedModelEstimator
from penstock.estimator.trees.estimators import (
    BoostedTreesEstimator,
    boosted_trees_classifier_train_in_memory,
    boosted_trees_regressor_train_in_memory,
)

__all__ = [
    "BaselineEstimator",
    "BoostedTreesEstimator",
    "DNNClassifierWithLayerAnnotations",
    "DNNEstimator",
    "DNNLinearCombinedEstimator",
    "DNNRegressorWithLayerAnnotations",
    "InMemoryEvaluatorHook",
    "LinearEstimator",
    "RNNClassifier",
    "RNNEstimator",
    "SavedModelEstimator",
    "TowerOptimizer",
    "add_metrics",
    "binary_classification_head",
    "boosted_trees_classifier_train_in_memory",
    "boosted_trees_regressor_train_in_memory",
    "build_raw_supervised_input_receiver_fn",
    "build_supervised_input_receiver_fn_from_input_fn",
    "call_logit_fn",
    "clip_gradients_by_norm",
    "dnn_logit_fn_builder",
    "export_all_saved_models",
    "export_saved_model_for_mode",
    "forward_features",
    "linear_logit_fn_builder",
    "logistic_regression_head",
    "make_early_stopping_hook",
    "make_stop_at_checkpoint_step_hook",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "poisson_regression_head",
    "read_eval_metrics",
    "regression_head",
    "replicate_model_fn",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
]

__getattr__ = resolver(__name__)
