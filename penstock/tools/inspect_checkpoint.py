"""What is in a checkpoint, printed."""

from __future__ import annotations

import argparse
import re
from typing import Any

import numpy as np

import penstock as tf

__all__ = ["parse_numpy_printoption", "print_tensors_in_checkpoint_file"]


def print_tensors_in_checkpoint_file(
    file_name: str,
    tensor_name: str | None,
    all_tensors: bool,
    all_tensor_names: bool = False,
    count_exclude_pattern: str = "",
) -> None:
    """Prints one tensor of a checkpoint, or all of them, or their names, types and shapes.

    The number of parameters follows, without those whose names match `count_exclude_pattern`.
    What is wrong with a file is printed, not raised.
    """
    try:
        _print_tensors(file_name, tensor_name, all_tensors, all_tensor_names, count_exclude_pattern)
    except (tf.errors.OpError, ValueError) as error:
        print(error)


def _print_tensors(
    file_name: str,
    tensor_name: str | None,
    all_tensors: bool,
    all_tensor_names: bool,
    excluded: str,
) -> None:
    reader = tf.train.NewCheckpointReader(file_name)
    if all_tensors or all_tensor_names:
        for name in sorted(reader.get_variable_to_shape_map()):
            print("tensor_name: ", name)
            if all_tensors:
                print(reader.get_tensor(name))
    elif tensor_name:
        print("tensor_name: ", tensor_name)
        print(reader.get_tensor(tensor_name))
    else:
        print(reader.debug_string().decode())
    print(f"# Total number of params: {_count(reader.get_variable_to_shape_map(), excluded)}")


def _count(shapes: dict[str, list[int]], excluded: str) -> int:
    counted = (s for name, s in shapes.items() if not excluded or not re.match(excluded, name))
    return sum(int(np.prod(shape)) for shape in counted)


def parse_numpy_printoption(kv_str: str) -> None:
    """Sets an option of `numpy.set_printoptions` from a text such as "precision=3"."""
    name, _, text = kv_str.partition("=")
    options: dict[str, Any] = dict(np.get_printoptions())
    if not text or name not in options:
        raise argparse.ArgumentTypeError(f"'{kv_str}' is not in the form k=v of an option of NumPy")
    kind = type(options[name])
    try:
        value: Any = text == "True" if kind is bool else kind(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    np.set_printoptions(**{name: value})
