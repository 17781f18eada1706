"""Kernels of staging areas, which their nodes find by name."""

import numpy as np
import torch

from penstock.kernels.queues import owned
from penstock.kernels.registry import HOST, kernel
from penstock.state.staging import MapStagingArea, StagingArea


def _size(value):
    """How many bytes a value takes."""
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    if isinstance(value, np.ndarray):
        return sum(len(text) for text in value.flat if isinstance(text, bytes))
    return 0


def _finder(node, env, kind, make):
    """The function that gives a node's area, which may have been cleared with its container."""
    name = node.attrs["shared_name"] or node.name
    container, resources = node.attrs["container"], env.resources
    return lambda: resources.get_or_create(kind, container, name, lambda: make(name))


def _as_results(node, values, before=0):
    """What a kernel returns for so many values."""
    return values[0] if len(node.dtypes) == before + 1 == 1 else values


# In order -------------------------------------------------------------------------------------


def _area(node, env):
    capacity, limit = node.attrs["capacity"], node.attrs["memory_limit"]
    return _finder(node, env, StagingArea, lambda name: StagingArea(name, capacity, limit))


@kernel("Stage", devices=HOST, step=True)
def _(node, env):
    area = _area(node, env)

    def run(step, *values):
        area().put([owned(value) for value in values], sum(map(_size, values)), step)

    return run


@kernel("Unstage", devices=HOST, fresh=True, step=True)
def _(node, env):
    area = _area(node, env)
    return lambda step: _as_results(node, area().get(step))


@kernel("StagePeek", devices=HOST, fresh=True, step=True)
def _(node, env):
    area = _area(node, env)

    def run(step, index):
        return _as_results(node, [owned(value) for value in area().peek(int(index), step)])

    return run


@kernel("StageSize", devices=HOST, fresh=True, step=True)
def _(node, env):
    area = _area(node, env)
    return lambda step: torch.tensor(len(area()), dtype=torch.int32)


@kernel("StageClear", devices=HOST, step=True)
def _(node, env):
    area = _area(node, env)
    return lambda step: area().clear()


# By key ---------------------------------------------------------------------------------------

_MAP = ("Map", "OrderedMap")


def _map(node, env):
    attrs = node.attrs
    ordered = node.type.startswith("Ordered")

    def make(name):
        return MapStagingArea(name, attrs["capacity"], attrs["memory_limit"], ordered=ordered)

    return _finder(node, env, MapStagingArea, make)


def _types(suffix):
    return [f"{prefix}{suffix}" for prefix in _MAP]


@kernel(*_types("Stage"), devices=HOST, step=True)
def _(node, env):
    area = _map(node, env)
    components = len(node.attrs["dtypes"])

    def run(step, key, indices, *values):
        parts = [(owned(value), _size(value)) for value in values]
        area().put(int(key), indices.tolist(), parts, components, step)

    return run


@kernel(*_types("Unstage"), devices=HOST, fresh=True, step=True)
def _(node, env):
    area = _map(node, env)

    def run(step, key, indices):
        return _as_results(node, area().get(int(key), indices.tolist(), step)[1])

    return run


@kernel(*_types("UnstageNoKey"), devices=HOST, fresh=True, step=True)
def _(node, env):
    area = _map(node, env)

    def run(step, indices):
        key, values = area().get(None, indices.tolist(), step)
        return [torch.tensor(key, dtype=torch.int64), *values]

    return run


@kernel(*_types("Peek"), devices=HOST, fresh=True, step=True)
def _(node, env):
    area = _map(node, env)

    def run(step, key, indices):
        values = area().peek(int(key), indices.tolist(), step)
        return _as_results(node, [owned(value) for value in values])

    return run


@kernel(*_types("Size"), devices=HOST, fresh=True, step=True)
def _(node, env):
    area = _map(node, env)
    return lambda step: torch.tensor(len(area()), dtype=torch.int32)


@kernel(*_types("IncompleteSize"), devices=HOST, fresh=True, step=True)
def _(node, env):
    area = _map(node, env)
    return lambda step: torch.tensor(area().incomplete_size(), dtype=torch.int32)


@kernel(*_types("Clear"), devices=HOST, step=True)
def _(node, env):
    area = _map(node, env)
    return lambda step: area().clear()
