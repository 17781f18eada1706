"""Checkpoints of recurrent networks from before TensorFlow 1.2, under the names of today."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import penstock as tf
from penstock import logging
from penstock.proto import SaverDef

__all__ = ["RNN_NAME_REPLACEMENTS", "convert_names"]

#: Scopes whose `weights` are a `kernel` now, and whose `biases` are a `bias`, by the first match.
_RENAMED = (
    "basic_rnn_cell gru_cell gru_cell/gates gru_cell/candidate basic_lstm_cell lstm_cell "
    "lstm_cell/projection output_projection_wrapper input_projection_wrapper lstm_block_wrapper "
    "layer_norm_basic_lstm_cell ugrnn_cell nas_rnn intersection_rnn_cell "
    "intersection_rnn_cell/in_projection phased_lstm_cell/mask_gates phased_lstm_cell/new_input "
    "phased_lstm_cell/output_gate attention_cell_wrapper "
    "attention_cell_wrapper/attn_output_projection attention_cell_wrapper/attention "
    "attention_decoder attention_decoder/Attention_0 attention_decoder/AttnOutputProjection"
).split()
#: What had other names still earlier.
_OLDER = (
    ("nas_rnn/recurrent_weights", "nas_rnn/recurrent_kernel"),
    ("attention_decoder/Attention_0/Linear/Bias", "attention_decoder/Attention_0/bias"),
    ("attention_decoder/Attention_0/Linear/Matrix", "attention_decoder/Attention_0/kernel"),
    (
        "attention_decoder/AttnOutputProjection/Linear/Bias",
        "attention_decoder/AttnOutputProjection/bias",
    ),
    (
        "attention_decoder/AttnOutputProjection/Linear/Matrix",
        "attention_decoder/AttnOutputProjection/kernel",
    ),
    ("attention_decoder/LSTMCell/B", "attention_decoder/lstm_cell/bias"),
    ("attention_decoder/LSTMCell/W_0", "attention_decoder/lstm_cell/kernel"),
    ("attention_decoder/Linear/Bias", "attention_decoder/bias"),
    ("attention_decoder/Linear/Matrix", "attention_decoder/kernel"),
)
#: Parts of names, and what they are replaced with.
RNN_NAME_REPLACEMENTS: OrderedDict[str, str] = OrderedDict(
    [
        *(
            (f"{scope}/{old}", f"{scope}/{new}")
            for scope in _RENAMED
            for old, new in (("weights", "kernel"), ("biases", "bias"))
            if (scope, old) != ("nas_rnn", "biases")  # it has none
        ),
        *_OLDER,
    ]
)


def _rnn_name_replacement(var_name: str) -> str:
    for old, new in RNN_NAME_REPLACEMENTS.items():
        if old in var_name:
            replaced = var_name.replace(old, new)
            logging.info("Converted: %s --> %s", var_name, replaced)
            return replaced
    return var_name


def convert_names(
    checkpoint_from_path: Any, checkpoint_to_path: Any, write_v1_checkpoint: bool = False
) -> tuple[dict[str, Any], dict[str, str]]:
    """Writes a checkpoint anew, with the variables of recurrent cells under their present names.

    Returns:
      Variables by their new names, and the new names by the old ones where they differ.
    """
    reader = tf.train.NewCheckpointReader(checkpoint_from_path)
    variables: dict[str, Any] = {}
    renamed: dict[str, str] = {}
    with tf.Graph().as_default():
        for name in reader.get_variable_to_shape_map():
            new_name = _rnn_name_replacement(name)
            variables[new_name] = tf.Variable(reader.get_tensor(name), name=name)
            if new_name != name:
                renamed[name] = new_name
        version = SaverDef.V1 if write_v1_checkpoint else SaverDef.V2
        saver = tf.train.Saver(variables, write_version=version)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            saver.save(session, checkpoint_to_path)
    logging.info("Converted %d variable name(s).", len(variables))
    return variables, renamed
