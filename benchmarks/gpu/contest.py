"""What is compared on a GPU: the networks, and each framework's formulations of them.

The first variant of a framework is expected to be its fastest; the next one is tried where it
fails, and all of them run with `--all-variants`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks.gpu import programs
from benchmarks.gpu.programs import DeviceProgram
from benchmarks.image_network import ImageNetwork
from benchmarks.models import alexnet, googlenet, overfeat, vgg_a

NETWORKS: dict[str, ImageNetwork] = {
    "alexnet": alexnet.NETWORK,
    "overfeat": overfeat.NETWORK,
    "vgg_a": vgg_a.NETWORK,
    "googlenet": googlenet.NETWORK,
}
NULL = "null"
MODELS = (NULL, *NETWORKS)
NULL_TITLE = "null step: one added to a variable, host time"

VARIANTS: dict[str, tuple[str, ...]] = {
    "penstock": ("NHWC", "NCHW"),
    "torch": ("channels_last", "contiguous_format"),
    "torch-compiled": ("channels_last reduce-overhead", "channels_last default"),
    "jax": ("NHWC", "NCHW"),
}

_TRAINING: dict[str, Callable[[ImageNetwork, str, str], DeviceProgram]] = {
    "penstock": programs.penstock_program,
    "torch": programs.torch_program,
    "torch-compiled": partial(programs.torch_program, compiled=True),
    "jax": programs.jax_program,
}
_NULL: dict[str, Callable[[str], DeviceProgram]] = {
    "penstock": programs.penstock_null,
    "torch": programs.torch_null,
    "torch-compiled": partial(programs.torch_null, compiled=True),
    "jax": programs.jax_null,
}


def title_of(model: str) -> str:
    return NULL_TITLE if model == NULL else NETWORKS[model].title


def variants_of(model: str, framework: str) -> tuple[str, ...]:
    return ("",) if model == NULL else VARIANTS[framework]


def build(model: str, framework: str, variant: str, device: str, *, tiny: bool) -> DeviceProgram:
    """The program of a framework; `tiny` narrows the network."""
    if model == NULL:
        return _NULL[framework](device)
    network = NETWORKS[model]
    return _TRAINING[framework](network.tiny() if tiny else network, variant, device)
