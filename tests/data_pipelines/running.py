"""Runs pipelines and writes their elements as plain data."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

LIMIT = 40


def plain(value: Any) -> Any:
    """A fetched value as JSON can hold it."""
    if hasattr(value, "_asdict"):
        return {"type": type(value).__name__, **{k: plain(v) for k, v in value._asdict().items()}}
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, bytes):
        return value.decode()
    array = np.asarray(value)
    if array.dtype == object:
        return {"object": [each.decode() for each in array.reshape(-1)], "shape": list(array.shape)}
    return {array.dtype.name: array.tolist()}


def shown(structure: Any) -> str:
    """A structure of types or shapes as text."""
    if isinstance(structure, dict):
        return str({key: shown(structure[key]) for key in sorted(structure)})
    if isinstance(structure, tuple) and not hasattr(structure, "as_list"):
        return str([shown(each) for each in structure])
    if hasattr(structure, "as_list"):
        return "?" if structure.rank is None else str(structure.as_list())
    return str(getattr(structure, "name", structure))


def run(tf: Any, make: Any, folder: Path) -> dict[str, Any]:
    """What a pipeline gives: its elements, its errors, and what it says of them before."""
    with tf.Graph().as_default(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dataset = make(tf, folder)
        iterator = tf.data.make_initializable_iterator(dataset)
        element = iterator.get_next()
        with tf.Session() as sess:
            elements: list[Any] = []
            try:
                sess.run(iterator.initializer)
                while len(elements) < LIMIT:
                    try:
                        elements.append(plain(sess.run(element)))
                    except tf.errors.OutOfRangeError:
                        elements.append("end")
                        break
                    except tf.errors.OpError as error:
                        elements.append(type(error).__name__)
            except tf.errors.OpError as error:
                elements.append(f"initializer: {type(error).__name__}")
        return {
            "types": shown(tf.data.get_output_types(dataset)),
            "shapes": shown(tf.data.get_output_shapes(dataset)),
            "elements": elements,
        }
