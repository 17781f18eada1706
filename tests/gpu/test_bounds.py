"""Rows by bad indices, as on a GPU: the functions are the same on any device."""

from __future__ import annotations

import pytest
import torch

from penstock.kernels import bounds_on_gpu as bounds

INDICES = torch.tensor([2, -1, 0, 5, 2])


def _rows(count: int) -> torch.Tensor:
    return torch.arange(1.0, 2 * count + 1).view(count, 2)


def test_a_bad_index_reads_zeros() -> None:
    params = _rows(3)
    expected = torch.tensor([[5.0, 6], [0, 0], [1, 2], [0, 0], [5, 6]])
    assert torch.equal(bounds.select_or_zero(params, INDICES), expected)
    assert torch.equal(bounds.select_or_zero(params.t().contiguous(), INDICES, 1), expected.t())
    assert torch.equal(bounds.select_or_zero(params[:0], INDICES), torch.zeros(5, 2))


def test_a_bad_index_adds_nothing() -> None:
    found = bounds.add_rows(torch.zeros(3, 2), INDICES, _rows(5), alpha=-1)
    assert torch.equal(found, -torch.tensor([[5.0, 6], [0, 0], [10, 12]]))
    not_numbers = torch.full((5, 2), torch.nan)
    assert torch.equal(
        bounds.add_rows(torch.ones(1, 2), INDICES + 9, not_numbers), torch.ones(1, 2)
    )


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("prod", [[5.0, 6], [1, 1], [9, 20]]),
        ("amax", [[5.0, 6], [1, 1], [9, 10]]),
        ("amin", [[1.0, 1], [1, 1], [1, 1]]),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_a_bad_index_changes_nothing(
    how: str, expected: list[list[float]], dtype: torch.dtype
) -> None:
    found = bounds.reduce_rows(torch.ones(3, 2, dtype=dtype), INDICES, _rows(5).to(dtype), how)
    assert torch.equal(found, torch.tensor(expected).to(dtype))


def test_of_rows_with_one_index_the_last_counts() -> None:
    found = bounds.replace_rows(torch.zeros(3, 2), INDICES, _rows(5))
    assert torch.equal(found, torch.tensor([[5.0, 6], [0, 0], [9, 10]]))


def test_a_bad_index_next_to_a_written_row_does_not_undo_it() -> None:
    target = torch.full((2, 1), 7.0)
    found = bounds.replace_rows(target, torch.tensor([-3, 0, 9]), torch.tensor([[1.0], [2], [3]]))
    assert torch.equal(found, torch.tensor([[2.0], [7]]))


def test_positions() -> None:
    positions = torch.tensor([[1, 2], [2, 0], [0, -1], [0, 0]], dtype=torch.int32)
    assert bounds.flat_or_negative(positions, [2, 3]).tolist() == [5, -1, -1, 0]


def test_counts() -> None:
    assert bounds.count_inside(INDICES, 4).tolist() == [1, 0, 2, 0]
