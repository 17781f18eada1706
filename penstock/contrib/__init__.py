"""`tf.contrib`: libraries that TensorFlow kept outside of its core; each is loaded when used."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    module = f"{__name__}.{name}"
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise AttributeError(name) from None
