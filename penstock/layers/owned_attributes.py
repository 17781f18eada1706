"""Which attributes of a layer belong to it in object-based checkpoints: those its author set."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from penstock.ir.trackable import Trackable, TrackableReference

# Attributes in which the library itself keeps layers, variables and lists.
_NOT_OWNED = frozenset(
    """
    _tracked _own_layers _layers _metrics _trainable_weights _non_trainable_weights _updates _losses
    _callable_losses _eager_losses _inbound_nodes _outbound_nodes _call_fn_args inputs
    outputs history _initial_weights _input_spec _metrics_tensors _batch_input_shape callbacks
    metrics_names _given_arguments _collected_trainable_weights _endpoints _functions
    _metric_results _compile_arguments _output_loss_metrics _nested_inputs _nested_outputs
    _function_kwargs _stack input_names output_names loss loss_weights sample_weight_mode states
    _graph_of_layers
    """.split()
)


class LiveContents(Trackable):
    """What a list or dictionary holds at the time of asking; it is not changed itself."""

    def __init__(self, container: Any):
        self.container = container

    def _items(self) -> Iterator[tuple[str, Any]]:
        if isinstance(self.container, dict):
            yield from ((key, value) for key, value in self.container.items() if type(key) is str)
        else:
            yield from ((str(index), value) for index, value in enumerate(self.container))

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        found = ((name, self._owned(name, value)) for name, value in self._items())
        return [TrackableReference(name, owned) for name, owned in found if has_something(owned)]

    def _owned(self, name: str, value: Any) -> Any:
        """The value, or a view of it that stays the same one."""
        if not _is_container(value):
            return value
        known = self._unconditional_dependency_names.get(name)
        if not isinstance(known, LiveContents) or known.container is not value:
            known = self._unconditional_dependency_names[name] = LiveContents(value)
        return known

    def _lookup_dependency(self, name: str) -> Any:
        return dict(self._checkpoint_dependencies).get(name)

    def __deepcopy__(self, memo: dict[int, Any]) -> LiveContents:
        return LiveContents(copy.deepcopy(self.container, memo))


def _is_container(value: Any) -> bool:
    return type(value) in (list, dict)


def has_something(value: Any) -> bool:
    """Whether a value can be in a checkpoint: views of containers without such are left out."""
    if isinstance(value, LiveContents):
        return bool(value._checkpoint_dependencies)
    return isinstance(value, Trackable)


def own_attribute(layer: Trackable, name: str, value: Any) -> None:
    """Lets a layer own what is set as its attribute."""
    if name in _NOT_OWNED or not layer._setattr_tracking:
        return
    if isinstance(value, Trackable):
        layer._track_trackable(value, name=name, overwrite=True)
    elif _is_container(value):
        layer._track_trackable(LiveContents(value), name=name, overwrite=True)
    else:
        layer._unconditional_dependency_names.pop(name, None)
