"""Data that programs give to `fit` and its kin, as lists of arrays in the model's order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.keras.engine.composite_data import CompositeArray, as_data


def as_arrays(data: Any, names: Sequence[str], shapes: Sequence[Any], what: str) -> list[Any]:
    """One array per name, from an array, a list, or a dictionary by name.

    Args:
      shapes: what each array's shape must be, with None for any size; None demands nothing.
      what: "input" or "target", for errors.
    """
    if not names:
        if data is not None and hasattr(data, "__len__") and len(data):
            raise ValueError(f"Error when checking model {what}: expected no data, but got: {data}")
        return []
    if data is None:
        return [None] * len(names)
    arrays = [_array(each) for each in _in_order(data, names, what)]
    if len(arrays) != len(names):
        raise ValueError(
            f"Error when checking model {what}: the list of Numpy arrays that you are passing to "
            f"your model is not the size the model expected. Expected to see {len(names)} "
            f"array(s), but instead got the following list of {len(arrays)} arrays: "
            f"{str(arrays)[:200]}..."
        )
    arrays = [_with_features(array, shape) for array, shape in zip(arrays, shapes, strict=True)]
    for name, array, shape in zip(names, arrays, shapes, strict=True):
        _check_shape(name, array, shape, what)
    return arrays


def _in_order(data: Any, names: Sequence[str], what: str) -> list[Any]:
    if isinstance(data, dict):
        missing = [name for name in names if name not in data]
        if missing:
            raise ValueError(
                f'No data provided for "{missing[0]}". Need data for each key in: {list(names)}'
            )
        return [data[name] for name in names]
    data = as_data(data)
    if isinstance(data, (list, tuple)):
        is_arrays = bool(data) and hasattr(data[0], "shape")
        if (
            len(names) == 1
            and not (len(data) == 1 and is_arrays)
            and (not is_arrays or np.ndim(data[0]) == 0)
        ):
            if len(data) == 1 and isinstance(data[0], (list, tuple)) and is_nested(data[0]):
                return list(data)
            return [np.asarray(data)]
        return list(data)
    return [data]


def is_nested(value: Any) -> bool:
    """Whether a list holds lists or arrays, not numbers."""
    return bool(len(value)) and isinstance(value[0], (list, tuple, np.ndarray))


def _array(value: Any) -> Any:
    if type(value).__module__.startswith("pandas"):
        return value.values
    if hasattr(value, "tocsr"):  # a sparse matrix, from which rows can be taken
        return value.tocsr()
    value = as_data(value)
    if value is None or (hasattr(value, "shape") and hasattr(value, "__getitem__")):
        return value
    return np.asarray(value)


def _with_features(array: Any, shape: Any) -> Any:
    """A vector as a matrix of one column, where the model wants more than vectors."""
    if (
        array is not None
        and not isinstance(array, CompositeArray)
        and getattr(array, "ndim", None) == 1
        and (shape is None or len(shape) != 1)
    ):
        return np.expand_dims(array, -1)
    return array


def _check_shape(name: str, array: Any, shape: Any, what: str) -> None:
    if array is None or shape is None:
        return
    given = tuple(array.shape)
    where = f"Error when checking {what}: expected {name} to have"
    if len(given) != len(shape):
        raise ValueError(f"{where} {len(shape)} dimensions, but got array with shape {given}")
    for size, wanted in zip(given[1:], shape[1:], strict=True):
        if wanted is not None and size is not None and size != wanted:
            raise ValueError(
                f"{where} shape {tuple(shape[1:])} but got array with shape {given[1:]}"
            )


def check_lengths(inputs: list[Any], targets: list[Any], weights: list[Any]) -> None:
    """Refuses arrays of different numbers of samples."""

    def lengths(arrays: list[Any]) -> set[int]:
        return {array.shape[0] for array in arrays if array is not None}

    of_inputs, of_targets, of_weights = lengths(inputs), lengths(targets), lengths(weights)
    if len(of_inputs) > 1:
        raise ValueError(
            "All input arrays (x) should have the same number of samples. Got array shapes: "
            f"{[array.shape for array in inputs]}"
        )
    if len(of_targets) > 1:
        raise ValueError(
            "All target arrays (y) should have the same number of samples. Got array shapes: "
            f"{[array.shape for array in targets if array is not None]}"
        )
    if of_inputs and of_targets and of_inputs != of_targets:
        raise ValueError(
            "Input arrays should have the same number of samples as target arrays. Found "
            f"{of_inputs.pop()} input samples and {of_targets.pop()} target samples."
        )
    if of_targets and of_weights and of_targets != of_weights:
        raise ValueError(
            "Sample_weight arrays should have the same number of samples as target arrays. Found "
            f"{of_weights.pop()} sample_weight samples and {of_targets.pop()} target samples."
        )


def weights_of_samples(
    target: Any, sample_weight: Any, class_weight: dict[int, float] | None, mode: str | None
) -> Any:
    """The weights of one output's samples, by their own and by their classes'; None for none."""
    if sample_weight is not None:
        _check_weights_shape(np.shape(sample_weight), np.shape(target), mode)
    weights = None if sample_weight is None else np.asarray(sample_weight)
    if not class_weight:
        return weights
    if np.ndim(target) > 2:
        raise ValueError("`class_weight` not supported for 3+ dimensional targets.")
    is_one_hot = np.ndim(target) == 2 and target.shape[1] > 1
    classes = np.argmax(target, axis=1) if is_one_hot else np.reshape(target, target.shape[0])
    unknown = set(np.unique(classes).tolist()) - set(class_weight)
    if unknown:
        raise ValueError(
            "`class_weight` must contain all classes in the data. The classes "
            f"{unknown} exist in the data but not in `class_weight`."
        )
    by_class = np.asarray([class_weight[each] for each in classes.tolist()])
    return by_class if weights is None else weights * by_class


def _check_weights_shape(
    shape: tuple[int, ...], of_target: tuple[int, ...], mode: str | None
) -> None:
    found = f"Found a sample_weight array with shape {shape}"
    if mode == "temporal":
        if len(of_target) < 3:
            raise ValueError(
                f"Found a sample_weight array for an input with shape {of_target}. Timestep-wise "
                'sample weighting (use of sample_weight_mode="temporal") is restricted to outputs '
                "that are at least 3D, i.e. that have a time dimension."
            )
        if len(shape) != 2:
            raise ValueError(
                f"{found}. In order to use timestep-wise sample weighting, you should pass a 2D "
                "sample_weight array."
            )
    elif len(shape) != 1:
        raise ValueError(
            f"{found}. In order to use timestep-wise sample weights, you should specify "
            'sample_weight_mode="temporal" in compile(). If you just mean to use sample-wise '
            "weights, make sure your sample_weight array is 1D."
        )
    if of_target[1 : len(shape)] != shape[1:]:
        raise ValueError(
            f"{found} for an input with shape {of_target}. sample_weight cannot be broadcast."
        )


def per_output(given: Any, names: Sequence[str], what: str) -> list[Any]:
    """An argument for each output: from one for the only output, a list, or a dictionary."""
    if given is None or (isinstance(given, (list, dict)) and not given):
        return [None] * len(names)
    if len(names) == 1:
        if isinstance(given, (list, tuple)) and len(given) == 1:
            return list(given)
        if isinstance(given, dict) and names[0] in given:
            return [given[names[0]]]
        return [given]
    if isinstance(given, (list, tuple)):
        if len(given) != len(names):
            raise ValueError(
                f"Provided `{what}` was a list of {len(given)} elements, but the model has "
                f"{len(names)} outputs. You should provide one `{what}` array per model output."
            )
        return list(given)
    if isinstance(given, dict):
        refuse_unknown(given, names, what)
        return [given.get(name) for name in names]
    raise TypeError(
        f"The model has multiple outputs, so `{what}` should be either a list or a dict. Provided "
        f"`{what}` type not understood: {given}"
    )


def refuse_unknown(given: dict[str, Any], names: Sequence[str], what: str) -> None:
    """ValueError for entries of a dictionary that name no output."""
    unknown = [key for key in given if key not in names]
    if unknown:
        raise ValueError(
            f"Unknown entries in {what} dictionary: {unknown}. Only expected following keys: "
            f"{list(names)}"
        )


def rows(arrays: list[Any], index: Any) -> list[Any]:
    """The rows of each array at indices or in a slice."""
    return [None if array is None else _rows(array, index) for array in arrays]


def _rows(array: Any, index: Any) -> Any:
    if not isinstance(index, slice) and type(array).__module__.startswith("h5py"):
        return array[np.sort(index)]
    return array[index]


def batches(count: int, size: int) -> list[tuple[int, int]]:
    """(start, end) of the batches of `count` samples."""
    return [(start, min(count, start + size)) for start in range(0, count, size)]
