"""Maps of features into spaces where products approximate a kernel."""

from __future__ import annotations

import abc
import math
from typing import Any

import numpy as np

import penstock as tf
from penstock.ir.tensor import Tensor

__all__ = ["DenseKernelMapper", "InvalidShapeError", "RandomFourierFeatureMapper"]


class InvalidShapeError(Exception):
    """Features have another shape than a mapper takes."""


class DenseKernelMapper(abc.ABC):
    """Maps matrices of features, one example a row."""

    @abc.abstractmethod
    def map(self, input_tensor: Any) -> Any:
        """The mapped features of examples."""

    @property
    @abc.abstractmethod
    def name(self) -> str: ...

    @property
    @abc.abstractmethod
    def output_dim(self) -> int: ...


class RandomFourierFeatureMapper(DenseKernelMapper):
    """Random cosines, whose products approximate a Gaussian kernel (Rahimi and Recht, 2007)."""

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        stddev: float = 1.0,
        seed: int = 1,
        name: str | None = None,
    ):
        self._input_dim, self._output_dim = input_dim, output_dim
        self._stddev, self._seed, self._name = stddev, seed, name

    @property
    def name(self) -> str:
        return self._name or str(id(self))

    @property
    def input_dim(self) -> int:
        return self._input_dim

    @property
    def output_dim(self) -> int:
        return self._output_dim

    def map(self, input_tensor: Any) -> Tensor:
        """The cosines of examples; a seed gives the same directions each time."""
        size = input_tensor.get_shape()
        if len(size) != 2:
            raise InvalidShapeError(
                f"The shape of the tensor should be 2. Got {len(size)} instead."
            )
        if size[1] != self._input_dim:
            raise InvalidShapeError(
                f"Invalid dimension: expected {self._input_dim} input features, got {size[1]} "
                "instead."
            )
        random = np.random.RandomState(self._seed)
        directions = random.normal(
            scale=1.0 / self._stddev, size=[self._input_dim, self._output_dim]
        )
        phases = random.uniform(low=0.0, high=2 * np.pi, size=[self._output_dim])
        angles = tf.matmul(input_tensor, tf.constant(directions, tf.float32)) + tf.constant(
            phases, tf.float32
        )
        mapped: Tensor = math.sqrt(2.0 / self._output_dim) * tf.cos(angles)
        return mapped
