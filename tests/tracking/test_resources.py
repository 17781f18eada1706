"""Resources and assets that are objects of a program."""

import gc

import pytest

import penstock as tf
from penstock.train.tracking.resources import (
    CapturableResource,
    CapturableResourceDeleter,
    ResourceTracker,
    TrackableAsset,
    TrackableResource,
    cached_per_instance,
    resource_tracker_scope,
)


class Named(TrackableResource):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def _create_resource(self):
        return f"handle of {self.name}"


def test_every_tracker_around_a_resource_is_told_of_it():
    outer, inner = ResourceTracker(), ResourceTracker()
    with resource_tracker_scope(outer):
        first = Named("first")
        with resource_tracker_scope(inner):
            second = Named("second")
    third = Named("third")
    assert outer.resources == [first, second]
    assert inner.resources == [second]
    assert third.resource_handle == "handle of third"


def test_a_resource_that_does_not_say_how_it_is_made_has_no_handle():
    with pytest.raises(NotImplementedError, match="_create_resource"):
        CapturableResource().resource_handle  # noqa: B018


def test_a_deleter_destroys_when_it_is_freed_in_the_graph_where_it_was_made():
    graphs = []
    graph = tf.Graph()
    with graph.as_default():
        resource = CapturableResource(
            deleter=CapturableResourceDeleter(lambda: graphs.append(tf.get_default_graph()))
        )
    del resource
    gc.collect()
    assert graphs == [graph]


def test_an_asset_is_the_tensor_of_its_path():
    asset = TrackableAsset("vocabulary.txt")
    joined = tf.strings.join([asset, ".old"])
    with tf.Session() as session:
        assert session.run(joined) == b"vocabulary.txt.old"
        assert session.run(asset.asset_path) == b"vocabulary.txt"


def test_a_cached_method_is_computed_once_for_each_object():
    calls = []

    class Thing:
        @property
        @cached_per_instance
        def value(self):
            calls.append(self)
            return len(calls)

    one, other = Thing(), Thing()
    assert (one.value, one.value, other.value) == (1, 1, 2)
