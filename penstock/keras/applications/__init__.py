"""`tf.keras.applications`: published networks, built by the package `keras_applications`.

TensorFlow 1.15 took them from that package as well. It is asked for when a network is built;
weights other than `None` or a file are downloaded by it.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable
from typing import Any

_PACKAGE = "keras_applications"
_NETWORKS = {
    "densenet": ("DenseNet121", "DenseNet169", "DenseNet201"),
    "imagenet_utils": (),
    "inception_resnet_v2": ("InceptionResNetV2",),
    "inception_v3": ("InceptionV3",),
    "mobilenet": ("MobileNet",),
    "mobilenet_v2": ("MobileNetV2",),
    "nasnet": ("NASNetLarge", "NASNetMobile"),
    "resnet": ("ResNet50", "ResNet101", "ResNet152"),
    "resnet50": ("ResNet50",),
    "resnet_v2": ("ResNet50V2", "ResNet101V2", "ResNet152V2"),
    "vgg16": ("VGG16",),
    "vgg19": ("VGG19",),
    "xception": ("Xception",),
}
_FOR_ALL = ("decode_predictions", "preprocess_input")


def _function(family: str, name: str) -> Callable[..., Any]:
    """A function of the package that builds on Penstock's layers."""

    def call(*args: Any, **kwargs: Any) -> Any:
        from penstock.keras import backend, layers, models, utils

        given = {"backend": backend, "layers": layers, "models": models, "utils": utils, **kwargs}
        return getattr(_family_in_package(family), name)(*args, **given)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"`{_PACKAGE}.{family}.{name}` with the layers of `tf.keras`."
    return call


def _family_in_package(family: str) -> types.ModuleType:
    try:
        return importlib.import_module(f"{_PACKAGE}.{family}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != _PACKAGE:
            raise
        raise ModuleNotFoundError(
            f"tf.keras.applications.{family} needs the package {_PACKAGE} of release 1.0.8: "
            f"pip install keras-applications==1.0.8",
            name=error.name,
        ) from None


def _define_families() -> None:
    """Makes a module of each family, and the networks of all of them names of this one."""
    here = sys.modules[__name__]
    for family, networks in _NETWORKS.items():
        module = types.ModuleType(f"{__name__}.{family}", f"The networks of {family}.")
        for name in (*networks, *_FOR_ALL):
            setattr(module, name, _function(family, name))
        for name in networks if family != "resnet50" else ():
            setattr(here, name, getattr(module, name))
        sys.modules[module.__name__] = module
        setattr(here, family, module)
    for name in _FOR_ALL:
        setattr(here, name, getattr(sys.modules[f"{__name__}.imagenet_utils"], name))


_define_families()
