"""Kernels of iterators that deal elements out to several devices."""

from __future__ import annotations

import itertools

import torch

from penstock import errors
from penstock.kernels.datasets.handle_texts import handle_text, of_handle_text
from penstock.kernels.queues import place_of
from penstock.kernels.registry import HOST, kernel
from penstock.state.dealt_elements import DealtElements

_anonymous = itertools.count()


@kernel("MultiDeviceIterator", devices=HOST)
def _(node, env):
    resources, name = place_of(node, env)
    container, shards = node.attrs["container"], len(node.attrs["devices"])
    find = resources.get_or_create

    def make():
        return DealtElements(name, shards, container)

    return lambda: find(DealtElements, container, name, make)


@kernel("AnonymousMultiDeviceIterator", devices=HOST)
def _(node, env):
    shards = len(node.attrs["devices"])

    def run():
        name = f"_AnonymousMultiDeviceIterator{next(_anonymous)}"
        dealt = env.resources.own.get_or_create(
            DealtElements, "", name, lambda: DealtElements(name, shards)
        )
        return dealt, dealt

    return run


@kernel("DeleteMultiDeviceIterator", devices=HOST)
def _(node, env):
    def run(dealt, *iterators_and_deleter):
        for resources in (env.resources.own, env.resources):
            resources.remove(DealtElements, dealt.container, dealt.name)

    return run


@kernel("MultiDeviceIteratorToStringHandle", devices=HOST)
def _(node, env):
    return lambda dealt: handle_text(env, dealt, "MultiDeviceIterator")


@kernel("MultiDeviceIteratorFromStringHandle", devices=HOST)
def _(node, env):
    find, kind = of_handle_text, "MultiDeviceIterator"
    return lambda text: find(env, text, DealtElements, kind)


@kernel("MultiDeviceIteratorInit", devices=HOST, step=True, fresh=True)
def _(node):
    return lambda step, dataset, dealt, most: torch.tensor(dealt.start(dataset, step))


@kernel("MultiDeviceIteratorGetNextFromShard", devices=HOST)
def _(node):
    single = len(node.dtypes) == 1

    def run(dealt, shard, incarnation):
        element = dealt.next(shard.item(), incarnation.item())
        if element is None:
            raise errors.OutOfRangeError(None, None, "End of sequence")
        return element[0] if single else element

    return run
