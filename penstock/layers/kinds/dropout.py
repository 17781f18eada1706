"""Layers that set random inputs to zero while training."""

from __future__ import annotations

from typing import Any

from penstock.ir.convert import convert_to_tensor
from penstock.layers.core_layer import CoreLayer
from penstock.layers.learning_phase import training_or_phase
from penstock.layers.smart_cond import smart_cond
from penstock.ops.dropout import dropout
from penstock.ops.identity import identity
from penstock.ops.shaping import shape as shape_of


class Dropout(CoreLayer):
    """Sets a part of the inputs to zero and scales up the others, while training.

    Args:
      rate: the part that is set to zero.
      noise_shape: shape of the random choice, which is broadcast; None entries are the inputs'.
      seed: of the random choice.
    """

    def __init__(
        self,
        rate: Any = 0.5,
        noise_shape: Any = None,
        seed: int | None = None,
        name: Any = None,
        **kwargs: Any,
    ):
        super().__init__(name=name, **kwargs)
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed
        self.supports_masking = True

    def _get_noise_shape(self, inputs: Any) -> Any:
        if self.noise_shape is None or not isinstance(self.noise_shape, (list, tuple)):
            return self.noise_shape
        sizes = shape_of(inputs)
        filled = [sizes[i] if size is None else size for i, size in enumerate(self.noise_shape)]
        return convert_to_tensor(filled)

    def call(self, inputs: Any, training: Any = False) -> Any:
        def dropped() -> Any:
            noise_shape = self._get_noise_shape(inputs)
            return dropout(inputs, noise_shape=noise_shape, seed=self.seed, rate=self.rate)

        return smart_cond(training_or_phase(training), dropped, lambda: identity(inputs))

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape
