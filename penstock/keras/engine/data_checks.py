"""`keras.engine.training_utils`: the checks of arrays and weights that `fit` makes."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import numpy as np

import penstock as tf
from penstock.ir.convert import CompositeTensor
from penstock.keras.engine import training_data
from penstock.keras.utils import plain_data
from penstock.ops.tensor_values import is_tensor
from penstock.platform import logging

STEPS_BESIDE_ARRAYS = (
    "When passing input data as arrays, do not specify `steps_per_epoch`/`steps` argument. Please "
    "use `batch_size` instead."
)


def _is_symbolic(value: Any) -> bool:
    composites = (CompositeTensor, tf.SparseTensorValue)
    return is_tensor(value) or isinstance(value, composites)


def has_tensors(ls: Any) -> bool:
    """Whether tensors are among the values of a structure."""
    return any(is_tensor(each) for each in tf.nest.flatten(ls))


has_symbolic_tensors = has_tensors


def slice_arrays(arrays: Any, indices: Any, contiguous: bool = True) -> Any:
    """Rows of an array or tensor, or of each of a list.

    Args:
      contiguous: whether the indices of tensors' rows follow each other.
    """
    several = arrays if isinstance(arrays, list) else [arrays]
    if not any(is_tensor(each) for each in several):
        found = plain_data.slice_arrays(several, indices)
    elif contiguous:
        found = [each[indices[0] : indices[-1] + 1] for each in several]
    else:
        found = [tf.concat([each[i : i + 1] for i in indices], axis=0) for each in several]
    return found if isinstance(arrays, list) else found[0]


def check_steps_argument(input_data: Any, steps: int | None, steps_name: str) -> bool:
    """Whether the number of steps decides, not that of the samples; ValueError if it is needed."""
    is_iterator = hasattr(input_data, "get_next")
    is_empty = isinstance(input_data, list) and not input_data
    if input_data is None or is_iterator or is_empty or has_tensors(input_data):
        if steps is None:
            kind = "a Dataset iterator" if is_iterator else "data tensors"
            raise ValueError(
                f"When using {kind} as input to a model, you should specify the `{steps_name}` "
                "argument."
            )
        return True
    if isinstance(input_data, tf.data.Dataset):
        return True
    if steps is not None and isinstance(input_data, (np.ndarray, list, tuple, dict)):
        logging.warning(STEPS_BESIDE_ARRAYS)
    return False


def check_steps_beside_arrays(
    model: Any, data: Any, batch_size: int | None, steps: int | None, steps_name: str
) -> None:
    """Warns of a number of steps for arrays; models that run eagerly refuse it."""
    check_steps_argument(data, steps, steps_name)
    runs_alone = model.run_eagerly and not model._experimental_run_tf_function
    if runs_alone and steps is not None and batch_size is None:
        raise ValueError(STEPS_BESIDE_ARRAYS)


def check_num_samples(
    ins: Any, batch_size: int | None = None, steps: int | None = None, steps_name: str = "steps"
) -> int | None:
    """The number of samples of arrays; None where steps are counted."""
    if steps is not None and batch_size is not None:
        raise ValueError(f"If {steps_name} is set, the `batch_size` must be None.")
    if check_steps_argument(ins, steps, steps_name) or not hasattr(ins[0], "shape"):
        return None
    return int(ins[0].shape[0])


def standardize_single_array(x: Any, expected_shape: Any = None) -> Any:
    """An array or tensor; a vector becomes a column unless a vector is expected."""
    if x is None or isinstance(x, (CompositeTensor, tf.SparseTensorValue)):
        return x
    if isinstance(x, int):
        raise ValueError(f"Expected an array data type but received an integer: {x}")
    wants_vector = expected_shape is not None and len(expected_shape) == 1
    if x.shape is not None and len(x.shape) == 1 and not wants_vector:
        return tf.expand_dims(x, 1) if is_tensor(x) else np.expand_dims(x, 1)
    return x


def standardize_sample_or_class_weights(
    x_weight: Any, output_names: Sequence[str], weight_type: str
) -> list[Any]:
    """The weights of each output, from one for the only output, a list, or a dictionary."""
    if isinstance(x_weight, dict) and len(output_names) > 1:
        plain_data.check_for_unexpected_keys(weight_type, x_weight, output_names)
    return training_data.per_output(x_weight, output_names, weight_type)


def standardize_class_weights(class_weight: Any, output_names: Sequence[str]) -> list[Any]:
    return standardize_sample_or_class_weights(class_weight, output_names, "class_weight")


def standardize_sample_weights(sample_weight: Any, output_names: Sequence[str]) -> list[Any]:
    return standardize_sample_or_class_weights(sample_weight, output_names, "sample_weight")


def standardize_weights(
    y: Any,
    sample_weight: Any = None,
    class_weight: Any = None,
    sample_weight_mode: str | None = None,
) -> Any:
    """The weights of samples, by their own and by their classes'."""
    if sample_weight_mode not in (None, "temporal", "samplewise"):
        raise ValueError(
            f'"sample_weight_mode should be None or "temporal". Found: {sample_weight_mode}'
        )
    return training_data.weights_of_samples(y, sample_weight, class_weight, sample_weight_mode)


def standardize_input_data(
    data: Any,
    names: Sequence[str],
    shapes: Sequence[Any] | None = None,
    check_batch_axis: bool = True,
    exception_prefix: str = "",
) -> list[Any]:
    """One array per name, of the shapes that are demanded.

    Args:
      exception_prefix: what the data are, for errors: "input" or "target".
    """
    wanted = [None] * len(names) if shapes is None else shapes
    return training_data.as_arrays(data, names, wanted, exception_prefix)


def check_array_lengths(inputs: Any, targets: Any, weights: Any = None) -> None:
    """Refuses arrays of different numbers of samples."""

    def arrays(given: Any) -> list[Any]:
        return [each for each in given or () if each is not None and not _is_symbolic(each)]

    training_data.check_lengths(arrays(inputs), arrays(targets), arrays(weights))


def should_run_validation(validation_freq: Any, epoch: int) -> bool:
    """Whether an epoch ends with a validation.

    Args:
      validation_freq: every so many epochs, or the numbers of epochs, from 1.
    """
    if isinstance(validation_freq, int):
        if validation_freq < 1:
            raise ValueError("`validation_freq` can not be less than 1.")
        return (epoch + 1) % validation_freq == 0
    if not isinstance(validation_freq, Container):
        raise ValueError(
            "`validation_freq` must be an Integer or `collections_abc.Container` (e.g. list, "
            "tuple, etc.)"
        )
    return epoch + 1 in validation_freq


def list_to_tuple(maybe_list: Any) -> Any:
    return tuple(maybe_list) if isinstance(maybe_list, list) else maybe_list


def batch_shuffle(index_array: Any, batch_size: int) -> Any:
    """Indices whose batches are shuffled while each batch stays together."""
    whole = len(index_array) // batch_size * batch_size
    in_batches = np.reshape(index_array[:whole], (-1, batch_size))
    np.random.shuffle(in_batches)  # noqa: NPY002 the program seeds it
    return np.append(in_batches.flatten(), index_array[whole:])
