"""Kernels of collective ops: the sum over devices is taken in the order of their numbers."""

import torch

from penstock import errors
from penstock.devices import DeviceSpec
from penstock.kernels.registry import kernel, passed_on
from penstock.state.collectives import Instance, Part

_MERGES = {
    "Add": torch.add,
    "Mul": torch.mul,
    "Max": torch.maximum,
    "Min": torch.minimum,
}
_NCCL_MERGES = {"sum": "Add", "prod": "Mul", "max": "Max", "min": "Min"}


class _Reduction:
    """Merges one value after the other on the first device."""

    def __init__(self, merge_op, divides):
        self._merge = _MERGES[merge_op]
        self._divides = divides

    def local(self, parts):
        merged = parts[0].value
        for part in parts[1:]:
            merged = self._merge(merged, part.value.to(merged.device))
        return merged

    def final(self, value, part):
        value = value.to(part.value.device)
        if not self._divides:
            return value.clone()
        if value.is_floating_point():
            return value / part.instance.group_size
        return torch.div(value, part.instance.group_size, rounding_mode="trunc")


class _Gathering:
    def local(self, parts):
        place = parts[0].value.device
        return torch.cat([part.value.to(place) for part in parts])

    def final(self, value, part):
        return value.to(part.value.device, copy=True)


class _Broadcast:
    """One member has a value; in a task without it there is none before the exchange."""

    def __init__(self, torch_device):
        self._place = torch_device

    def local(self, parts):
        sent = [part.value for part in parts if part.value is not None]
        if len(sent) > 1:
            raise errors.InternalError(
                None, None, f"instance {parts[0].instance.key} has several broadcasts' senders"
            )
        if not sent and len(parts) == parts[0].instance.group_size:
            raise errors.InternalError(
                None, None, f"Instance {parts[0].instance.key} found no source for broadcast"
            )
        return sent[0] if sent else None

    def final(self, value, part):
        return value.to(self._place, copy=True)


def _taking_part(node, env, merge, kind, timeout=0.0):
    """`run(step, keys, value, shape)`: a member's part in an instance; the value is kept as is."""
    collectives = env.resources.collectives
    device, dtype = _member(node, env.device.name), node.dtypes[0].name
    timeout = node.attrs.get("timeout_seconds", timeout)

    def run(step, keys, value, shape):
        size, group, key = keys
        instance = Instance(group, size, key, kind, dtype, tuple(shape))
        part = Part(device, node.name, instance, value, merge)
        return collectives.take_part(part, step, timeout)

    return run


def _member(node, device):
    """The device that a node takes part for: what it asks for, though another one may run it.

    In bodies of functions, and where placement is soft, members of one group share a device.
    """
    asked = DeviceSpec.from_string(node.origin.device if node.origin is not None else "")
    found = DeviceSpec.from_string(device)
    if asked.device_type is None:
        return device
    index = asked.device_index or 0
    return found.replace(device_type=asked.device_type, device_index=index).to_string()


def _keys_of(node):
    return tuple(node.attrs[name] for name in ("group_size", "group_key", "instance_key"))


def _numbers(keys):
    return tuple(int(key) for key in keys)


def _reduction(node):
    return _Reduction(node.attrs["merge_op"], node.attrs["final_op"] == "Div")


def _reduction_kind(node):
    return f"{node.attrs['merge_op']}, {node.attrs['final_op']}"


@kernel("CollectiveReduce", fresh=True, step=True)
def _(node, env):
    run = _taking_part(node, env, _reduction(node), _reduction_kind(node))
    keys = _keys_of(node)
    return lambda step, value: run(step, keys, value, value.shape)


@kernel("CollectiveReduceV2", fresh=True, step=True)
def _(node, env):
    run = _taking_part(node, env, _reduction(node), _reduction_kind(node))
    return lambda step, value, *keys: run(step, _numbers(keys[:3]), value, value.shape)


@kernel("CollectiveGather", fresh=True, step=True)
def _(node, env):
    run = _taking_part(node, env, _Gathering(), "gather")
    keys = _keys_of(node)
    return lambda step, value: run(step, keys, value, value.shape)


@kernel("CollectiveGatherV2", fresh=True, step=True)
def _(node, env):
    run = _taking_part(node, env, _Gathering(), "gather")
    return lambda step, value, *keys: run(step, _numbers(keys[:3]), value, value.shape)


@kernel("CollectiveBcastSend", fresh=True, step=True)
def _(node, env):
    run = _taking_part(node, env, _Broadcast(env.torch_device), "broadcast")
    keys = _keys_of(node)
    return lambda step, value: run(step, keys, value, value.shape)


@kernel("CollectiveBcastSendV2", fresh=True, step=True)
def _(node, env):
    run = _taking_part(node, env, _Broadcast(env.torch_device), "broadcast")
    return lambda step, value, *keys: run(step, _numbers(keys), value, value.shape)


@kernel("CollectiveBcastRecv", fresh=True, step=True)
def _(node, env):
    run = _taking_part(node, env, _Broadcast(env.torch_device), "broadcast")
    keys, shape = _keys_of(node), node.attrs["shape"]
    return lambda step: run(step, keys, None, shape)


@kernel("CollectiveBcastRecvV2", fresh=True, step=True)
def _(node, env):
    run = _taking_part(node, env, _Broadcast(env.torch_device), "broadcast")
    return lambda step, *given: run(step, _numbers(given[:3]), None, given[3].tolist())


@kernel("NcclAllReduce", fresh=True, step=True)
def _(node, env):
    merge_op = _NCCL_MERGES[node.attrs["reduction"]]
    run = _taking_part(node, env, _Reduction(merge_op, divides=False), merge_op)
    keys = (node.attrs["num_devices"], ("nccl", node.attrs["shared_name"]), 0)
    return lambda step, value: run(step, keys, value, value.shape)


@kernel("NcclReduce")
def _(node, env):
    merge = _MERGES[_NCCL_MERGES[node.attrs["reduction"]]]

    def run(first, *others):
        for other in others:
            first = merge(first, other)
        return first

    return run


@kernel("NcclBroadcast")
def _(node):
    return passed_on
