"""`tf.contrib.learn.utils.saved_model_export_utils`."""

from penstock.contrib.learn.best_exports import (
    BestModelSelector,
    extend_export_strategy,
    make_best_model_export_strategy,
    make_parsing_export_strategy,
)
from penstock.contrib.learn.export_strategy import make_export_strategy
from penstock.contrib.learn.utils.saved_models import (
    DEFAULT_INPUT_ALTERNATIVE_KEY,
    FEATURES_INPUT_ALTERNATIVE_KEY,
    MAX_DIRECTORY_CREATION_ATTEMPTS,
    build_all_signature_defs,
    build_standardized_signature_def,
    garbage_collect_exports,
    get_input_alternatives,
    get_most_recent_export,
    get_output_alternatives,
    get_temp_export_dir,
    get_timestamped_export_dir,
)

__all__ = [
    "DEFAULT_INPUT_ALTERNATIVE_KEY",
    "FEATURES_INPUT_ALTERNATIVE_KEY",
    "MAX_DIRECTORY_CREATION_ATTEMPTS",
    "BestModelSelector",
    "build_all_signature_defs",
    "build_standardized_signature_def",
    "extend_export_strategy",
    "garbage_collect_exports",
    "get_input_alternatives",
    "get_most_recent_export",
    "get_output_alternatives",
    "get_temp_export_dir",
    "get_timestamped_export_dir",
    "make_best_model_export_strategy",
    "make_export_strategy",
    "make_parsing_export_strategy",
]
