"""Arrays of strings: functions of one string at work on every element."""

import numpy as np
import torch


def strings_like(array, values):
    """Strings, in the order of an array's elements, in the array's shape."""
    result = np.empty(array.size, dtype=object)
    result[:] = values
    return result.reshape(array.shape)


def string_vector(values):
    """A list of strings as a vector."""
    result = np.empty(len(values), dtype=object)
    result[:] = values
    return result


def string_scalar(value):
    result = np.empty((), dtype=object)
    result[()] = value
    return result


def rearranged(run):
    """A kernel for strings out of one that only moves elements: it moves their positions."""

    def run_on_strings(array, *rest):
        places = run(torch.arange(array.size).reshape(array.shape), *rest)
        return array.reshape(-1)[places.numpy()]

    return run_on_strings


def mapped(function):
    """A kernel that applies a function of a string to each element."""

    def run(array):
        return strings_like(array, list(map(function, array.ravel().tolist())))

    return run


def attr_bytes(value):
    """A string attr as bytes: a node holds text or bytes."""
    return value.encode() if isinstance(value, str) else value
