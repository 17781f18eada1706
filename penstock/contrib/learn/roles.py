"""What `tf.contrib.learn` expects of something that can be trained, or evaluated."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class Trainable(ABC):
    """Something that can be trained."""

    @abstractmethod
    def fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Any = None,
        max_steps: int | None = None,
    ) -> Any:
        """Trains on arrays or on what an input function gives."""


class Evaluable(ABC):
    """Something that can be evaluated."""

    @property
    @abstractmethod
    def model_dir(self) -> Any:
        """The directory of the checkpoints."""

    @abstractmethod
    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        feed_fn: Any = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Any = None,
        name: str | None = None,
        checkpoint_path: Any = None,
        hooks: Any = None,
    ) -> Any:
        """The metrics of the model, by name."""
