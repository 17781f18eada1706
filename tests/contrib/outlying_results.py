"""What is compared of a scenario: variables, static shapes and values."""

from __future__ import annotations

from typing import Any

import numpy as np


def results(tf: Any, build: Any) -> dict[str, Any]:
    with tf.Graph().as_default():
        tensors = build(tf)
        # What is run before the values are asked for.
        before = tensors.pop("before", [])
        found = {
            "variables": [[each.op.name, _shape(each)] for each in tf.global_variables()],
            "shapes": {name: _shape(tensor) for name, tensor in tensors.items()},
        }
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            for each in before:
                session.run(each)
            values = session.run(tensors)
        found["values"] = {name: _plain(value) for name, value in values.items()}
        return found


def _shape(tensor: Any) -> Any:
    return tensor.shape.as_list() if tensor.shape.ndims is not None else None


def _plain(value: Any) -> Any:
    array = np.asarray(value)
    if array.dtype == object:
        return [str(array.dtype), [each.decode() for each in array.ravel().tolist()]]
    return [str(array.dtype), array.tolist()]
