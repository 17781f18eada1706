"""What is in a checkpoint, printed."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Any

import numpy as np

import penstock as tf
from penstock.tools.command_flags import FlagParser

__all__ = ["main", "parse_numpy_printoption", "print_tensors_in_checkpoint_file", "run_main"]


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
    sizes = {name: int(np.prod(shape)) for name, shape in shapes.items()}
    if excluded:
        matching = [name for name in sizes if re.search(excluded, name)]
        parameters = sum(sizes.pop(name) for name in matching)
        print(
            f"# Excluding {len(matching)} tensors ({parameters} params) that match {excluded} when "
            "counting."
        )
    return sum(sizes.values())


def parse_numpy_printoption(kv_str: str) -> None:
    """Sets an option of `numpy.set_printoptions` from a text such as "precision=3"."""
    name, separator, text = kv_str.partition("=")
    options: dict[str, Any] = dict(np.get_printoptions())
    if not separator or not name:
        raise argparse.ArgumentTypeError(f"'{kv_str}' is not in the form k=v.")
    if name not in options:
        raise argparse.ArgumentTypeError(f"'{name}' is not a valid printoption.")
    if options[name] is None:
        raise argparse.ArgumentTypeError(
            f"Setting '{name}' from the command line is not supported."
        )
    kind = type(options[name])
    try:
        value: Any = _truth(text) if kind is bool else kind(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    np.set_printoptions(**{name: value})


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "t", "1", "false", "f", "0"):
        raise ValueError(f"Non-boolean argument to boolean flag: {text}")
    return text.lower() in ("true", "t", "1")


def main(unused_args: Any, flags: Any) -> None:
    """Prints what flags of the command line ask for."""
    if not flags.file_name:
        print(
            "Usage: inspect_checkpoint --file_name=checkpoint_file_name "
            "[--tensor_name=tensor_to_print] [--all_tensors] [--all_tensor_names] [--printoptions]"
        )
        sys.exit(1)
    print_tensors_in_checkpoint_file(
        flags.file_name,
        flags.tensor_name,
        flags.all_tensors,
        flags.all_tensor_names,
        flags.count_exclude_pattern,
    )


def run_main() -> None:
    """Runs the command: `python -m penstock.tools.inspect_checkpoint --file_name=…`."""
    parser = FlagParser(description=__doc__)
    parser.text("file_name", "prefix of the checkpoint's files")
    parser.text("tensor_name", "the tensor to print")
    parser.text("count_exclude_pattern", "expression for tensors that are not counted")
    parser.switch("all_tensors", False, "whether to print all tensors")
    parser.switch("all_tensor_names", False, "whether to print the names of all tensors")
    parser.add_argument(
        "--printoptions",
        nargs="*",
        type=parse_numpy_printoption,
        help="options of numpy.set_printoptions, such as precision=3",
    )
    parser.run(main)


if __name__ == "__main__":
    run_main()
