"""Kernels of the tensors that a session keeps."""

from penstock.kernels.queues import owned
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.string_arrays import string_scalar
from penstock.state.session_tensors import SessionTensors


def _store(env):
    return env.resources.own.get_or_create(
        SessionTensors, "", "", lambda: SessionTensors(env.device.name)
    )


@kernel("GetSessionHandle", devices=HOST, fresh=True, step=True)
def _(node, env):
    name = node.name
    return lambda step, value: string_scalar(_store(env).keep(name, owned(value)).encode())


@kernel("GetSessionHandleV2", devices=HOST, step=True)
def _(node, env):
    name = node.name
    return lambda step, value: _store(env).keep(name, owned(value))


@kernel("GetSessionTensor", devices=HOST, step=True)
def _(node, env):
    return lambda step, handle: owned(_store(env).get(handle.item().decode()))


@kernel("DeleteSessionTensor", devices=HOST, step=True)
def _(node, env):
    return lambda step, handle: _store(env).delete(handle.item().decode())
