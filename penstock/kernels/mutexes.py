"""Kernels of mutexes."""

from penstock.kernels.registry import HOST, Constant, kernel
from penstock.state.mutexes import Mutex, hold_until_failure


@kernel("MutexV2", devices=HOST)
def _(node, env):
    name = node.attrs["shared_name"] or node.name
    mutex = env.resources.get_or_create(Mutex, node.attrs["container"], name, lambda: Mutex(name))
    return Constant(mutex)


@kernel("MutexLock", devices=HOST, fresh=True, step=True)
def _(node):
    def run(step, mutex):
        lock = mutex.acquire(step)
        hold_until_failure(step.resources, lock)
        return lock

    return run


@kernel("ConsumeMutexLock", devices=HOST)
def _(node):
    return lambda lock: lock.release()
