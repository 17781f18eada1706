"""`tf.keras.applications`: published networks, built by the package `keras_applications`.

TensorFlow 1.15 took them from that package as well. It is asked for when a network is built;
weights other than `None` or a file are downloaded by it.
"""

from __future__ import annotations

import functools
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


def keras_modules_injection(base_fun: Callable[..., Any]) -> Callable[..., Any]:
    """`base_fun`, which gets the modules of `tf.keras` as arguments of these names."""

    @functools.wraps(base_fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        from penstock.keras import backend, layers, models, utils

        kwargs.setdefault("layers", layers)
        return base_fun(*args, **{**kwargs, "backend": backend, "models": models, "utils": utils})

    return call


def _function(family: str, name: str) -> Callable[..., Any]:
    """A function of the package that builds on Penstock's layers."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return getattr(_in_package(family), name)(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"`{_PACKAGE}.{family}.{name}` with the layers of `tf.keras`."
    return keras_modules_injection(call)


def _in_package(family: str | None = None) -> types.ModuleType:
    """The package, or its module of a family."""
    try:
        return importlib.import_module(f"{_PACKAGE}.{family}" if family else _PACKAGE)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != _PACKAGE:
            raise
        asked = ".".join(filter(None, ("tf.keras.applications", family)))
        raise ModuleNotFoundError(
            f"{asked} needs the package {_PACKAGE} of release 1.0.8: "
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
        vars(module)["__getattr__"] = functools.partial(_name_beside, family)
        for name in networks if family != "resnet50" else ():
            setattr(here, name, getattr(module, name))
        sys.modules[module.__name__] = module
        setattr(here, family, module)
    for name in _FOR_ALL:
        setattr(here, name, getattr(sys.modules[f"{__name__}.imagenet_utils"], name))


def _name_beside(family: str | None, name: str) -> types.ModuleType:
    """In TensorFlow's modules lies the package, or the module of its family, under its own name."""
    if name == (family or _PACKAGE):
        return _in_package(family)
    here = f"{__name__}.{family}" if family else __name__
    raise AttributeError(f"module {here!r} has no attribute {name!r}")


def __getattr__(name: str) -> types.ModuleType:
    return _name_beside(None, name)


_define_families()
