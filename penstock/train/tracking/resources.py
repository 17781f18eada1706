"""Resources and asset files among the objects of a program, and who is told of new ones."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor, register_tensor_conversion_function
from penstock.ir.defaults import get_default_graph
from penstock.ir.trackable import Trackable
from penstock.ops.control import device, init_scope
from penstock.ops.graph_functions import function


class ResourceTracker:
    """The resources that were made in a `resource_tracker_scope`, in that order."""

    def __init__(self) -> None:
        self._resources: list[Any] = []

    @property
    def resources(self) -> list[Any]:
        return self._resources

    def add_resource(self, resource: Any) -> None:
        """Notes a resource."""
        self._resources.append(resource)


_TRACKERS: ContextVar[tuple[ResourceTracker, ...]] = ContextVar("resource_trackers", default=())


@contextmanager
def resource_tracker_scope(resource_tracker: ResourceTracker) -> Iterator[None]:
    """Tells a tracker of every `TrackableResource` that is made inside."""
    told = _TRACKERS.set((*_TRACKERS.get(), resource_tracker))
    try:
        yield
    finally:
        _TRACKERS.reset(told)


class CapturableResourceDeleter:
    """Destroys a resource when it is itself freed, so that the resource needs no `__del__`.

    Args:
      destroy_resource_fn: called without arguments, in the graph where this object was made.
    """

    def __init__(self, destroy_resource_fn: Callable[[], Any] | None = None):
        self._destroy_resource = destroy_resource_fn
        self._graph = get_default_graph() if destroy_resource_fn is not None else None

    def destroy_resource(self) -> Any:
        """Destroys the resource now."""
        return None if self._destroy_resource is None else self._destroy_resource()

    def __del__(self) -> None:
        if self._graph is not None:
            with self._graph.as_default():
                self.destroy_resource()


class CapturableResource(Trackable):
    """An object with a tensor that stands for a resource; a function can capture it.

    Args:
      device: where the resource has to be made; "" for anywhere.
      deleter: a `CapturableResourceDeleter` of the resource.
    """

    def __init__(self, device: str = "", deleter: CapturableResourceDeleter | None = None):
        self._resource_handle: Any = None
        self._resource_device = device
        self._resource_deleter = deleter or CapturableResourceDeleter()

    def _create_resource(self) -> Any:
        """Makes the resource; subclasses say how."""
        raise NotImplementedError("TrackableResource._create_resource not implemented.")

    def _initialize(self) -> Any:
        """Fills the resource, where it needs that."""

    @property
    def resource_handle(self) -> Any:
        """The resource's tensor; the resource is made when it is first asked for."""
        if self._resource_handle is None:
            with device(self._resource_device):
                self._resource_handle = self._create_resource()
        return self._resource_handle

    def _list_functions_for_serialization(self, unused_serialization_cache: Any) -> dict[str, Any]:
        """What a SavedModel makes, fills and destroys the resource with."""

        def initialize() -> int:
            self._initialize()
            return 1

        def destroy() -> int:
            self._resource_deleter.destroy_resource()
            return 1

        return {
            "_create_resource": function(self._create_resource, input_signature=[]),
            "_initialize": function(initialize, input_signature=[]),
            "_destroy_resource": function(destroy, input_signature=[]),
        }


class TrackableResource(CapturableResource):
    """A resource that the trackers around its making are told of."""

    def __init__(self, device: str = "", deleter: CapturableResourceDeleter | None = None):
        for tracker in _TRACKERS.get():
            tracker.add_resource(self)
        super().__init__(device=device, deleter=deleter)


class TrackableAsset(Trackable):
    """A file that belongs to a model, such as a vocabulary; it is a tensor of its path.

    Args:
      path: the file's path, as a string or tensor.
    """

    def __init__(self, path: Any):
        with init_scope(), device("CPU"):
            self._path = convert_to_tensor(path, dtype=dtypes.string, name="asset_path")

    @property
    def asset_path(self) -> Any:
        """The path as a tensor."""
        return self._path


def _path_of_asset(
    asset: TrackableAsset, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Any:
    return convert_to_tensor(asset.asset_path, dtype=dtype, name=name)


register_tensor_conversion_function(TrackableAsset, _path_of_asset)


def cached_per_instance(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A method of `self` alone that is computed once for each object."""
    cache: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    @functools.wraps(f)
    def cached(item: Any) -> Any:
        value = cache.get(item)
        if value is None:
            value = cache[item] = f(item)
        return value

    cached.cache = cache  # type: ignore[attr-defined]  # programs look into it
    return cached
