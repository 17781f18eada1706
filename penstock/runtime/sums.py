"""A sum of products whose rows are collected: the value of a loop's variable while it runs."""

from __future__ import annotations

from typing import Any

import torch

_MOST_ROWS = 512  # so many are multiplied at once: memory stays bounded in a long loop


class SumOfProducts:
    """`start` plus the sum of transpose(a) @ b of all that was added."""

    __slots__ = ("_a", "_b", "_has_own_total", "_product", "_rows", "_total")

    def __init__(self, start: Any, product: Any):
        self._total = start
        self._has_own_total = False
        self._product = product
        self._a: list[Any] = []
        self._b: list[Any] = []
        self._rows = 0

    def add(self, a: Any, b: Any) -> None:
        if a.shape[0] != b.shape[0]:
            torch.mm(a.t(), b)  # its error names the sizes
        self._a.append(a)
        self._b.append(b)
        self._rows += a.shape[0]
        if self._rows >= _MOST_ROWS:
            self._multiply()

    def _multiply(self) -> None:
        if len(self._a) == 1:
            product = self._product(self._a[0].t(), self._b[0])
        else:
            product = self._product(torch.cat(self._a).t(), torch.cat(self._b))
        self._total = product.add_(self._total)
        self._has_own_total = True
        self._a.clear()
        self._b.clear()
        self._rows = 0

    def total(self) -> Any:
        """The sum, in memory of its own."""
        if self._a:
            self._multiply()
        return self._total if self._has_own_total else self._total.clone()


def add_product(total: SumOfProducts, a: Any, b: Any) -> SumOfProducts:
    total.add(a, b)
    return total
