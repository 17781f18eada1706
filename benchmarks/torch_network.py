"""Image networks as PyTorch modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.image_network import Branches, Connection, Convolution, ImageNetwork, Layer, Pool
from benchmarks.layouts import load_torch_layers


def torch_network(torch: Any, network: ImageNetwork) -> Any:
    """A module with the network's initial values; it takes NCHW images and returns logits."""
    layers: dict[str, Any] = {}
    made = _sequential(torch, network.layers, network.weight_shapes(), layers)
    load_torch_layers(torch, layers, network.initial_values(), flat=network.flattened())
    return made


def _sequential(
    torch: Any,
    layers: Sequence[Layer],
    shapes: dict[str, tuple[int, ...]],
    named: dict[str, Any],
) -> Any:
    """The modules of layers; those with weights are put into `named`."""
    nn = torch.nn
    modules: list[Any] = []
    for layer in layers:
        if isinstance(layer, Convolution):
            channels = shapes[layer.name][2:]
            named[layer.name] = nn.Conv2d(*channels, layer.window, layer.stride, layer.pad)
            modules += [named[layer.name], nn.ReLU(inplace=True)]
        elif isinstance(layer, Pool):
            modules.append(_pool(nn, layer))
        elif isinstance(layer, Connection):
            if not any(isinstance(module, nn.Flatten) for module in modules):
                modules.append(nn.Flatten())
            named[layer.name] = nn.Linear(*shapes[layer.name])
            modules.append(named[layer.name])
            modules += [nn.ReLU(inplace=True)] if layer.rectified else []
        else:
            modules.append(_joined(torch, layer, shapes, named))
    return nn.Sequential(*modules)


def _pool(nn: Any, layer: Pool) -> Any:
    if layer.mean:
        return nn.AvgPool2d(layer.window, layer.stride)
    # "SAME" pads more behind than before where it can't halve the padding: PyTorch's ceil_mode.
    pad = (layer.window - layer.stride) // 2 if layer.same else 0
    return nn.MaxPool2d(layer.window, layer.stride, pad, ceil_mode=layer.same)


def _joined(
    torch: Any, layer: Branches, shapes: dict[str, tuple[int, ...]], named: dict[str, Any]
) -> Any:
    class Joined(torch.nn.Module):  # type: ignore[misc]  # torch comes as an argument
        def __init__(self) -> None:
            super().__init__()
            made = [_sequential(torch, branch, shapes, named) for branch in layer.branches]
            self.branches = torch.nn.ModuleList(made)

        def forward(self, value: Any) -> Any:
            return torch.cat([branch(value) for branch in self.branches], 1)

    return Joined()
