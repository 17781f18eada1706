"""`tf.estimator.WarmStartSettings`: where a model takes its first values from."""

from __future__ import annotations

import os
from collections import namedtuple
from typing import Any

from penstock.platform import gfile, logging
from penstock.platform.compat import as_str_any


class WarmStartSettings(
    namedtuple(
        "WarmStartSettings",
        [
            "ckpt_to_initialize_from",
            "vars_to_warm_start",
            "var_name_to_vocab_info",
            "var_name_to_prev_var_name",
        ],
    )
):
    """Which variables to initialize from which checkpoint.

    Args:
      ckpt_to_initialize_from: a checkpoint, or a directory with some.
      vars_to_warm_start: a regular expression, a list of them, or variables; trainable ones.
      var_name_to_vocab_info: for embeddings whose vocabulary has changed, `VocabInfo` by name.
      var_name_to_prev_var_name: names in the checkpoint, of variables with another name there.
    """

    __slots__ = ()

    def __new__(
        cls,
        ckpt_to_initialize_from: Any,
        vars_to_warm_start: Any = ".*",
        var_name_to_vocab_info: Any = None,
        var_name_to_prev_var_name: Any = None,
    ) -> WarmStartSettings:
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        return super().__new__(
            cls,
            ckpt_to_initialize_from,
            vars_to_warm_start,
            var_name_to_vocab_info or {},
            var_name_to_prev_var_name or {},
        )


def settings_of(warm_start_from: Any) -> WarmStartSettings | None:
    """Settings as such, or those of a checkpoint's or a SavedModel's path."""
    if warm_start_from is None or isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    if not isinstance(warm_start_from, str | bytes):
        raise ValueError(
            "warm_start_from must be a string or a WarmStartSettings, instead got "
            f"{type(warm_start_from)}"
        )
    try:
        in_saved_model = saved_model_checkpoint(warm_start_from)
    except ValueError:
        return WarmStartSettings(warm_start_from)
    logging.info("Warm-starting from a SavedModel")
    return WarmStartSettings(in_saved_model)


def saved_model_checkpoint(saved_model_dir: Any) -> str:
    """The checkpoint in a SavedModel; ValueError if there is none."""
    found = os.path.join(as_str_any(saved_model_dir), "variables", "variables")
    if not gfile.Exists(f"{found}.index"):
        raise ValueError(f"Directory provided has an invalid SavedModel format: {saved_model_dir}")
    return found
