"""Wrappers of recurrent cells that are Keras layers: `RNNCellDropoutWrapper` & co. of 2.x."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.keras.layers.function_code import FunctionName, function_from_config, kind_of
from penstock.keras.layers.recurrent import AbstractRNNCell
from penstock.rnn.wrappers import DeviceRules, DropoutRules, ResidualRules, _drop_all_but_memory

__all__ = ["DeviceWrapper", "DropoutWrapper", "ResidualWrapper"]


class _RNNCellWrapperV2(AbstractRNNCell):
    """A cell around another one, which is built and called as its own part."""

    _wrapped: Callable[..., Any]

    def __init__(self, cell: Any, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.cell = cell

    def call(self, inputs: Any, state: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """The wrapped cell's output and new state, as the wrapper changes them."""
        return self._wrapped(inputs, state, lambda i, s: self.cell.call(i, s, **kwargs))

    def build(self, inputs_shape: Any) -> None:
        """Builds the wrapped cell."""
        self.cell.build(inputs_shape)
        self.built = True

    def get_config(self) -> dict[str, Any]:
        cell = {"class_name": type(self.cell).__name__, "config": self.cell.get_config()}
        return {**super().get_config(), "cell": cell}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        from penstock.keras.layers import deserialize

        config = dict(config)
        cell = deserialize(config.pop("cell"), custom_objects=custom_objects)
        return cls(cell, **config)


def _described(function: Any, name: str, module_key: str) -> dict[str, Any]:
    """The part of a configuration that tells of a function."""
    return {
        name: FunctionName.of(function),
        f"{name}_type": kind_of(function),
        module_key: function.__module__,
    }


def _function_of(config: dict[str, Any], name: str, module_key: str, known: Any) -> Any:
    """Takes a function's part out of a configuration, and gives the function."""
    config.pop(module_key, None)
    config.pop(f"{name}_type")
    return function_from_config(config.pop(name), known)


class DropoutWrapper(DropoutRules, _RNNCellWrapperV2):
    __doc__ = DropoutRules.__doc__

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        if self._dropout_state_filter is not _drop_all_but_memory:
            config |= _described(self._dropout_state_filter, "dropout_fn", "dropout_fn_module")
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        config = dict(config)
        if "dropout_fn" in config:
            config["dropout_state_filter_visitor"] = _function_of(
                config, "dropout_fn", "dropout_fn_module", custom_objects
            )
        return super().from_config(config, custom_objects)


#: As TensorFlow 1.15 spells it in configurations.
_RESIDUAL_MODULE = "residule_fn_module"


class ResidualWrapper(ResidualRules, _RNNCellWrapperV2):
    __doc__ = ResidualRules.__doc__

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        if self._residual_fn is not None:
            config |= _described(self._residual_fn, "residual_fn", _RESIDUAL_MODULE)
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        config = dict(config)
        if "residual_fn" in config:
            config["residual_fn"] = _function_of(
                config, "residual_fn", _RESIDUAL_MODULE, custom_objects
            )
        return super().from_config(config, custom_objects)


class DeviceWrapper(DeviceRules, _RNNCellWrapperV2):
    __doc__ = DeviceRules.__doc__
