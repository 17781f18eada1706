"""A model's forward pass as functions, which `tf.saved_model.save` writes."""

from __future__ import annotations

from typing import Any

import penstock as tf

__all__ = ["functions_to_save"]


def functions_to_save(model: Any) -> dict[str, Any]:
    """The default signature of a model, and what calls it; none before its inputs are known."""
    if not model.inputs:
        return {}
    specs = [
        tf.TensorSpec([None, *tensor.shape.as_list()[1:]], tensor.dtype, name)
        for tensor, name in zip(model.inputs, model.input_names, strict=True)
    ]

    def given(tensors: Any) -> Any:
        return tensors[0] if len(specs) == 1 else list(tensors)

    def named_outputs(*tensors: Any) -> dict[str, Any]:
        outputs = tf.nest.flatten(model(given(tensors), training=False))
        return dict(zip(model.output_names, outputs, strict=True))

    call = tf.function(lambda inputs, training=False: model(inputs, training=training))
    call.get_concrete_function(given(specs), training=False)
    return {
        "_default_save_signature": tf.function(named_outputs, input_signature=specs),
        "__call__": call,
    }
