"""Iterators: resources that keep a place in a pipeline, and ops that read a whole dataset."""

from __future__ import annotations

import itertools

import torch

from penstock import errors, shapes
from penstock.kernels.datasets.assertions import check_assertions
from penstock.kernels.datasets.handle_texts import handle_text, of_handle_text
from penstock.kernels.datasets.mapping import function_of
from penstock.kernels.datasets.readers import scalar_string
from penstock.kernels.optionals import OptionalValue
from penstock.kernels.queues import place_of
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.sparse_rows import invalid
from penstock.kernels.values import mark_fresh
from penstock.platform.tf_record import TFRecordWriter
from penstock.state.datasets import Context, IteratorResource

_anonymous = itertools.count()


def _made(node, resources, name):
    attrs = node.attrs
    types, sizes = attrs["output_types"], attrs["output_shapes"]
    container = attrs.get("container", "")
    found = resources.get_or_create(
        IteratorResource, container, name, lambda: IteratorResource(name, types, sizes)
    )
    _check_elements(types, sizes, found.types, found.shapes)
    found.container = container
    return found


@kernel("Iterator", "IteratorV2", devices=HOST)
def _(node, env):
    place = place_of(node, env)
    return lambda: _made(node, *place)


@kernel("AnonymousIterator", "AnonymousIteratorV2", devices=HOST)
def _(node, env):
    pair = node.type == "AnonymousIteratorV2"

    def run():
        resource = _made(node, env.resources.own, f"_AnonymousIterator{next(_anonymous)}")
        return (resource, resource) if pair else resource

    return run


@kernel("DeleteIterator", devices=HOST)
def _(node, env):
    def run(resource, deleter):
        for resources in (env.resources.own, env.resources):
            resources.remove(IteratorResource, resource.container, resource.name)
        resource.close()

    return run


@kernel("OneShotIterator", devices=HOST, step=True)
def _(node, env):
    factory = function_of(node, env, "dataset_factory")
    place = place_of(node, env)

    def run(step):
        resource = _made(node, *place)
        resource.start_once(lambda: _checked(factory(step, ())[0]), step)
        return resource

    return run


def _checked(dataset):
    """The dataset, in which what `assert_next` says holds."""
    check_assertions(dataset)
    return dataset


def _check_elements(types, sizes, given_types, given_sizes):
    """Refuses elements of other types or shapes than an iterator was declared with."""
    if list(types) != list(given_types):
        if len(types) != len(given_types):
            raise invalid(
                f"Number of components does not match: expected {len(types)} types but got "
                f"{len(given_types)}."
            )
        place = next(
            i for i, pair in enumerate(zip(types, given_types, strict=True)) if pair[0] != pair[1]
        )
        raise invalid(
            f"Data type mismatch at component {place}: expected {types[place].name} but got "
            f"{given_types[place].name}."
        )
    for place, (wanted, given) in enumerate(zip(sizes, given_sizes, strict=True)):
        if not shapes.TensorShape(wanted).is_compatible_with(shapes.TensorShape(given)):
            raise invalid(
                f"Incompatible shapes at component {place}: expected "
                f"{shapes.TensorShape(wanted)} but got {shapes.TensorShape(given)}."
            )


@kernel("MakeIterator", devices=HOST, step=True)
def _(node):
    return lambda step, dataset, resource: resource.start(_checked(dataset), step)


def _end():
    return errors.OutOfRangeError(None, None, "End of sequence")


@kernel("IteratorGetNext", "IteratorGetNextSync", devices=HOST, marks_fresh=True)
def _(node):
    single = len(node.dtypes) == 1

    def run(resource):
        element, fresh = resource.get_next_and_freshness()
        if element is None:
            raise _end()
        if fresh:
            for value in element:
                mark_fresh(value)
        return element[0] if single else element

    return run


@kernel("IteratorGetNextAsOptional", devices=HOST)
def _(node):
    return lambda resource: OptionalValue(resource.get_next())


@kernel("OptionalFromValue", devices=HOST)
def _(node):
    return lambda *element: OptionalValue(element)


@kernel("OptionalNone", devices=HOST)
def _(node):
    return OptionalValue


@kernel("OptionalHasValue", devices=HOST, fresh=True)
def _(node):
    return lambda optional: torch.tensor(optional.element is not None)


@kernel("OptionalGetValue", devices=HOST)
def _(node):
    single = len(node.dtypes) == 1

    def run(optional):
        if optional.element is None:
            raise invalid("The given optional does not have a value.")
        return optional.element[0] if single else optional.element

    return run


# Handles as strings -------------------------------------------------------------------------------


@kernel("IteratorToStringHandle", devices=HOST)
def _(node, env):
    return lambda resource: handle_text(env, resource, "IteratorResource")


@kernel("IteratorFromStringHandle", "IteratorFromStringHandleV2", devices=HOST)
def _(node, env):
    types, sizes = node.attrs["output_types"], node.attrs["output_shapes"]

    def run(handle):
        resource = of_handle_text(env, handle, IteratorResource, "IteratorResource")
        if types:
            _check_elements(types, sizes or [None] * len(types), resource.types, resource.shapes)
        return resource

    return run


@kernel("IteratorGetDevice", "ExperimentalIteratorGetDevice", devices=HOST)
def _(node, env):
    return lambda resource: scalar_string(env.device.name.encode())


# A whole dataset ----------------------------------------------------------------------------------


@kernel("DatasetToSingleElement", devices=HOST, step=True)
def _(node):
    single = len(node.dtypes) == 1

    def run(step, dataset):
        elements = _checked(dataset).iterate(Context(step))
        try:
            element = elements.next()
            if element is None:
                raise invalid("Dataset was empty.")
            if elements.next() is not None:
                raise invalid("Dataset had more than one element.")
        finally:
            elements.close()
        return element[0] if single else element

    return run


@kernel("ReduceDataset", devices=HOST, step=True)
def _(node, env):
    function = function_of(node, env)
    count = len(node.attrs["Tstate"])

    def run(step, dataset, *rest):
        state, captured = rest[:count], rest[count:]
        context = Context(step)
        elements = _checked(dataset).iterate(context)
        try:
            while (element := elements.next()) is not None:
                state = tuple(context.call(function, state + element + captured))
        finally:
            elements.close()
        return state[0] if count == 1 else state

    return run


@kernel("DatasetCardinality", "ExperimentalDatasetCardinality", devices=HOST, fresh=True)
def _(node):
    return lambda dataset: torch.tensor(dataset.cardinality(), dtype=torch.int64)


@kernel("DatasetToTFRecord", "ExperimentalDatasetToTFRecord", devices=HOST, step=True)
def _(node):
    def run(step, dataset, filename, compression):
        elements = _checked(dataset).iterate(Context(step))
        try:
            with TFRecordWriter(filename.item(), compression.item().decode()) as writer:
                while (element := elements.next()) is not None:
                    writer.write(element[0].item())
        finally:
            elements.close()

    return run
