"""What is in a checkpoint, printed."""

from __future__ import annotations

import penstock as tf

__all__ = ["print_tensors_in_checkpoint_file"]


def print_tensors_in_checkpoint_file(
    file_name: str,
    tensor_name: str | None,
    all_tensors: bool,
    all_tensor_names: bool = False,
    count_exclude_pattern: str = "",
) -> None:
    """Prints one tensor of a checkpoint, or all of them, or their names, types and shapes."""
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
