"""`tf.keras.experimental`: learning rates along cosines, and layers on trial."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras.exported_models import export_saved_model, load_from_saved_model
from penstock.keras.layers.recurrent_cells import PeepholeLSTMCell
from penstock.keras.layers.sequence_features import SequenceFeatures
from penstock.keras.optimizers.schedules import CosineDecay, LearningRateSchedule, decayed
from penstock.keras.premade import LinearModel, WideDeepModel

__all__ = [
    "CosineDecay",
    "CosineDecayRestarts",
    "LinearCosineDecay",
    "LinearModel",
    "NoisyLinearCosineDecay",
    "PeepholeLSTMCell",
    "SequenceFeatures",
    "WideDeepModel",
    "export_saved_model",
    "load_from_saved_model",
]


class CosineDecayRestarts(LearningRateSchedule):
    """Half cosines one after another, each `t_mul` times as long and `m_mul` times as high."""

    _CONFIG = ("initial_learning_rate", "first_decay_steps", "t_mul", "m_mul", "alpha", "name")

    def __init__(
        self,
        initial_learning_rate: Any,
        first_decay_steps: Any,
        t_mul: float = 2.0,
        m_mul: float = 1.0,
        alpha: float = 0.0,
        name: str | None = None,
    ):
        self.initial_learning_rate = initial_learning_rate
        self.first_decay_steps = first_decay_steps
        self.t_mul = t_mul
        self.m_mul = m_mul
        self.alpha = alpha
        self.name = name

    def __call__(self, step: Any) -> Any:
        return decayed(
            tf.train.cosine_decay_restarts,
            self.initial_learning_rate,
            step,
            self.first_decay_steps,
            t_mul=self.t_mul,
            m_mul=self.m_mul,
            alpha=self.alpha,
            name=self.name or "SGDRDecay",
        )


class LinearCosineDecay(LearningRateSchedule):
    """A cosine that a line lowers."""

    _CONFIG = ("initial_learning_rate", "decay_steps", "num_periods", "alpha", "beta", "name")

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        num_periods: float = 0.5,
        alpha: float = 0.0,
        beta: float = 0.001,
        name: str | None = None,
    ):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.num_periods = num_periods
        self.alpha = alpha
        self.beta = beta
        self.name = name

    def __call__(self, step: Any) -> Any:
        return decayed(
            tf.train.linear_cosine_decay,
            self.initial_learning_rate,
            step,
            self.decay_steps,
            num_periods=self.num_periods,
            alpha=self.alpha,
            beta=self.beta,
            name=self.name or "LinearCosineDecay",
        )


class NoisyLinearCosineDecay(LearningRateSchedule):
    """A cosine that a line with noise lowers; the noise gets less."""

    _CONFIG = (
        "initial_learning_rate",
        "decay_steps",
        "initial_variance",
        "variance_decay",
        "num_periods",
        "alpha",
        "beta",
        "name",
    )

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        initial_variance: float = 1.0,
        variance_decay: float = 0.55,
        num_periods: float = 0.5,
        alpha: float = 0.0,
        beta: float = 0.001,
        name: str | None = None,
    ):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.initial_variance = initial_variance
        self.variance_decay = variance_decay
        self.num_periods = num_periods
        self.alpha = alpha
        self.beta = beta
        self.name = name

    def __call__(self, step: Any) -> Any:
        return decayed(
            tf.train.noisy_linear_cosine_decay,
            self.initial_learning_rate,
            step,
            self.decay_steps,
            initial_variance=self.initial_variance,
            variance_decay=self.variance_decay,
            num_periods=self.num_periods,
            alpha=self.alpha,
            beta=self.beta,
            name=self.name or "NoisyLinearCosineDecay",
        )
