"""Lists, dictionaries and arguments, as `keras.utils.generic_utils` handles them."""

import numpy as np
import pytest

from penstock.keras.utils import plain_data


def keyed(x, y=1, **others):
    return x, y, others


def test_arguments_of_functions():
    assert plain_data.has_arg(keyed, "y")
    assert not plain_data.has_arg(keyed, "z")
    assert plain_data.has_arg(keyed, "z", accept_all=True)
    assert not plain_data.has_arg(lambda x: x, "z", accept_all=True)


def test_rows_of_arrays():
    rows = np.arange(4)
    assert plain_data.slice_arrays(None) == [None]
    first, second, third = plain_data.slice_arrays([rows, None, 5], 1, 3)
    assert (first.tolist(), second, third) == ([1, 2], None, None)
    assert plain_data.slice_arrays([rows], np.array([0, 3]))[0].tolist() == [0, 3]
    assert plain_data.slice_arrays(rows, [0, 3]).tolist() == [0, 3]
    with pytest.raises(ValueError, match="stop argument has to be None"):
        plain_data.slice_arrays([rows], [1], 2)


def test_lists_and_batches():
    assert plain_data.to_list(1) == [1] and plain_data.to_list([1]) == [1]
    assert plain_data.make_batches(7, 3) == [(0, 3), (3, 6), (6, 7)]
    assert plain_data.is_all_none([None, (None,)]) and not plain_data.is_all_none([None, 0])


def test_other_keys_than_the_expected_ones():
    plain_data.validate_kwargs({"a": 1}, ["a"])
    with pytest.raises(TypeError, match="Keyword argument not understood"):
        plain_data.validate_kwargs({"b": 1}, ["a"])
    with pytest.raises(ValueError, match=r"Unknown entries in loss dictionary: \['b'\]"):
        plain_data.check_for_unexpected_keys("loss", {"b": 1}, ["a"])
