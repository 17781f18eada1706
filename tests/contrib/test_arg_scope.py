"""`arg_scope`: which defaults hold where."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.contrib import framework


@framework.add_arg_scope
def shape(size: int, color: str = "red", scale: float = 1.0) -> tuple[int, str, float]:
    return size, color, scale


@framework.add_arg_scope
def other(size: int, color: str = "blue") -> tuple[int, str]:
    return size, color


def plain(size: int) -> int:
    return size


def test_inner_scopes_override_outer_ones_and_calls_override_both() -> None:
    with framework.arg_scope([shape, other], color="green"):
        with framework.arg_scope([shape], scale=2.0):
            assert shape(1) == (1, "green", 2.0)
            assert shape(1, color="black") == (1, "black", 2.0)
            assert other(1) == (1, "green")
        assert shape(1) == (1, "green", 1.0)
    assert shape(1) == (1, "red", 1.0)


def test_a_scope_can_be_kept_and_opened_again() -> None:
    with framework.arg_scope([shape], color="green") as kept:
        pass
    with framework.arg_scope([shape], scale=3.0), framework.arg_scope(kept):
        assert shape(1) == (1, "green", 1.0)


def test_a_scope_ends_when_its_block_fails() -> None:
    with pytest.raises(KeyError), framework.arg_scope([shape], color="green"):
        raise KeyError
    assert framework.current_arg_scope() == {}


@pytest.mark.parametrize(
    ("target", "arguments", "error"),
    [
        ([plain], {"size": 1}, ValueError),
        (shape, {"color": "x"}, TypeError),
        ({}, {"a": 1}, ValueError),
    ],
)
def test_what_cannot_be_scoped_is_refused(target: Any, arguments: Any, error: Any) -> None:
    with pytest.raises(error), framework.arg_scope(target, **arguments):
        pass


def test_what_a_scope_can_set_is_known() -> None:
    assert framework.has_arg_scope(shape)
    assert not framework.has_arg_scope(plain)
    assert framework.arg_scoped_arguments(shape) == ("color", "scale")
    assert framework.arg_scope_func_key(shape) != framework.arg_scope_func_key(other)
    assert shape.__name__ == "shape"
