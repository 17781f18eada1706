"""The optimizers of canned estimators, by name."""

from __future__ import annotations

from typing import Any

import penstock as tf

_BY_NAME = {
    "Adagrad": tf.train.AdagradOptimizer,
    "Adam": tf.train.AdamOptimizer,
    "Ftrl": tf.train.FtrlOptimizer,
    "RMSProp": tf.train.RMSPropOptimizer,
    "SGD": tf.train.GradientDescentOptimizer,
}


#: The names of Keras' optimizers, which are found once they are asked for.
_KERAS_NAMES = ("Adagrad", "Adam", "Ftrl", "RMSProp", "SGD")

_KERAS_CLASSES = {"RMSProp": "RMSprop"}


def get_optimizer_instance(opt: Any, learning_rate: float | None = None) -> Any:
    """An optimizer: that of a name, the result of a function, or the one that is given."""
    if isinstance(opt, str):
        if opt not in _BY_NAME:
            raise ValueError(
                f"Unsupported optimizer name: {opt}. Supported names are: {tuple(sorted(_BY_NAME))}"
            )
        if not learning_rate:
            raise ValueError("learning_rate must be specified when opt is string.")
        return _BY_NAME[opt](learning_rate=learning_rate)
    if callable(opt):
        opt = opt()
    if not isinstance(opt, tf.train.Optimizer):
        raise ValueError(f"The given object is not an Optimizer instance. Given: {opt}")
    return opt


def get_optimizer_instance_v2(opt: Any, learning_rate: float | None = None) -> Any:
    """An optimizer of Keras: that of a name, the result of a function, or the one that is given."""
    if isinstance(opt, str):
        if opt not in _KERAS_NAMES:
            raise ValueError(
                f"Unsupported optimizer name: {opt}. Supported names are: {_KERAS_NAMES}"
            )
        made = getattr(tf.keras.optimizers, _KERAS_CLASSES.get(opt, opt))
        return made(learning_rate=learning_rate) if learning_rate else made()
    if callable(opt):
        opt = opt()
    if not isinstance(opt, tf.keras.optimizers.Optimizer):
        raise ValueError(
            f"The given object is not a tf.keras.optimizers.Optimizer instance. Given: {opt}"
        )
    return opt
