"""`tf.contrib.training.Tuner`: what a search for hyperparameters implements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class Tuner(ABC):
    """A search for hyperparameters."""

    @abstractmethod
    def next_trial(self) -> bool:
        """Switches to the next trial; whether there is one."""
        raise NotImplementedError("Calling an abstract method.")

    @abstractmethod
    def run_experiment(self, experiment_fn: Any) -> None:
        """Builds and runs an experiment for the current trial."""
        raise NotImplementedError("Calling an abstract method.")
