"""Lists and dictionaries that own what is in them.

`List` and `Mapping` can only grow. `ListWrapper` and the dictionary wrappers take the place of
plain lists and dictionaries that are assigned to attributes: they change like those, but a
checkpoint is refused after a change that would give one name to two objects over time.
"""

from __future__ import annotations

import copy
import functools
import operator
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Mapping as AbstractMapping
from contextlib import contextmanager
from typing import Any

from penstock.ir.trackable import NoDependency, Trackable, TrackableReference
from penstock.ops.variables import Variable


def wrap_or_unwrap(value: Any) -> Any:
    """The value that an attribute gets: lists and dictionaries as those that own."""
    if isinstance(value, NoDependency):
        return value.value
    if isinstance(value, Trackable):
        return value
    wrapper: Any = _WRAPPERS.get(type(value))  # subclasses have their own ways
    return value if wrapper is None else wrapper(value)


def sticky_attribute_assignment(trackable: Trackable, name: str, value: Any) -> Any:
    """Lets an object own what is assigned to an attribute; returns the attribute's value."""
    wrapped = wrap_or_unwrap(value)
    if not isinstance(value, NoDependency) and isinstance(wrapped, Trackable):
        trackable._track_trackable(wrapped, name=name, overwrite=True)
    return wrapped


class _UntrackableError(ValueError):
    pass


class TrackableDataStructure(Trackable):
    """A container that owns what is in it; layers in it are parts of the layer it belongs to."""

    def _track_value(self, value: Any, name: str) -> Any:
        value = sticky_attribute_assignment(self, name, value)
        if not isinstance(value, Trackable):
            raise _UntrackableError(
                "Only trackable objects (such as Layers or Optimizers) may be stored in a List "
                f"object. Got {value}, which does not inherit from Trackable."
            )
        if hasattr(value, "_use_resource_variables"):
            value._use_resource_variables = True
        return value

    @property
    def trainable(self) -> bool:
        return bool(self.__dict__.get("_trainable", True))

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.__dict__["_trainable"] = value

    @property
    def _values(self) -> Iterable[Any]:
        raise NotImplementedError

    @property
    def layers(self) -> list[Any]:
        """The layers in it, and in containers in it."""
        found: list[Any] = []
        for value in self._values:
            if isinstance(value, TrackableDataStructure):
                found += value.layers
            elif hasattr(value, "trainable_weights"):
                found.append(value)
        return found

    def _of_values(self, attribute: str) -> list[Any]:
        return [each for layer in self.layers for each in getattr(layer, attribute, ())]

    def _own_variables(self, trainable: bool) -> list[Any]:
        return [v for v in self._values if isinstance(v, Variable) and v.trainable is trainable]

    @property
    def trainable_weights(self) -> list[Any]:
        if not self.trainable:
            return []
        return self._of_values("trainable_weights") + self._own_variables(True)

    @property
    def non_trainable_weights(self) -> list[Any]:
        fixed = self._of_values("non_trainable_weights") + self._own_variables(False)
        if self.trainable:
            return fixed
        return self._of_values("trainable_weights") + self._own_variables(True) + fixed

    @property
    def weights(self) -> list[Any]:
        return self.trainable_weights + self.non_trainable_weights

    variables = weights
    trainable_variables = trainable_weights
    non_trainable_variables = non_trainable_weights

    @property
    def updates(self) -> list[Any]:
        return self._of_values("updates")

    @property
    def losses(self) -> list[Any]:
        return self._of_values("losses")

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


class List(TrackableDataStructure, Sequence[Any]):
    """A list of trackable objects that can only grow; they are named by their positions."""

    def __init__(self, *args: Any, **kwargs: Any):
        self._storage: list[Any] = []
        self.extend(list(*args, **kwargs))

    @property
    def _values(self) -> Iterable[Any]:
        return self._storage

    def append(self, value: Any) -> None:
        """Adds an object."""
        self._storage.append(self._track_value(value, str(len(self._storage))))

    def extend(self, values: Iterable[Any]) -> None:
        """Adds objects."""
        for value in values:
            self.append(value)

    def copy(self) -> List:
        return type(self)(self._storage)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> List:
        return type(self)(copy.deepcopy(self._storage, memo))

    def __iadd__(self, values: Iterable[Any]) -> List:  # type: ignore[misc]
        self.extend(values)
        return self

    def __add__(self, other: Any) -> List:
        return type(self)([*self._storage, *other])

    def __radd__(self, other: Any) -> List:
        return type(self)([*other, *self._storage])

    def __imul__(self, times: int) -> List:
        if times <= 0:
            raise ValueError(
                f"List only supports append, multiplying in place by {times} removes elements."
            )
        self.extend(self._storage * (times - 1))
        return self

    def __mul__(self, times: int) -> List:
        return type(self)(self._storage * times)

    __rmul__ = __mul__

    def __getitem__(self, key: Any) -> Any:
        return self._storage[key]

    def __len__(self) -> int:
        return len(self._storage)

    def __repr__(self) -> str:
        return f"List({self._storage!r})"


class Mapping(TrackableDataStructure, AbstractMapping[str, Any]):
    """A dictionary of trackable objects that can only grow; they are named by their keys."""

    def __init__(self, *args: Any, **kwargs: Any):
        self._storage: dict[str, Any] = {}
        self.update(*args, **kwargs)

    @property
    def _values(self) -> Iterable[Any]:
        return [value for _, value in sorted(self._storage.items())]

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(f"Mapping accepts only string keys, but got a key {key!r}.")
        value = self._track_value(value, name=key)
        current = self._storage.setdefault(key, value)
        if current is not value:
            raise ValueError(
                "Mappings are an append-only data structure. Tried to overwrite the key "
                f"'{key}' with value {value}, but it already contains {current}"
            )

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Adds objects by keys."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __copy__(self) -> Mapping:
        return type(self)(self._storage)

    def __deepcopy__(self, memo: dict[int, Any]) -> Mapping:
        return type(self)(copy.deepcopy(self._storage, memo))

    def __getitem__(self, key: str) -> Any:
        return self._storage[key]

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[str]:
        return iter(self._storage)

    def __repr__(self) -> str:
        return f"Mapping({self._storage!r})"


_WHY_NOT = (
    "In order to support restoration on object creation, tracking is exclusively for append-only "
    "data structures.\n\nIf you don't need this checkpointed, wrap it in a "
    "tf.contrib.checkpoint.NoDependency object; it will be automatically un-wrapped and "
    "subsequently ignored."
)


class _Wrapper(TrackableDataStructure):
    """A list or dictionary of Python's own types that owns the trackable things in it.

    1. Looking at it is looking at the wrapped one, so that what was done to that is seen here.
    2. What it holds itself is what the wrapped one was after the last change by this object; a
       difference was made from outside, and is taken over before the next change.
    3. `_mutation` says what was done to it that a checkpoint would not survive.
    """

    _kind: str  # as messages call it
    _wrapped: Any
    _mutation: str | None = None

    def _track_value(self, value: Any, name: str) -> Any:
        """Owns what can be owned; other values are kept as they are."""
        return sticky_attribute_assignment(self, name, value)

    def _refuse(self, why: str) -> ValueError:
        return ValueError(
            f"Unable to save the object {self!r} (a {self._kind} wrapper constructed to track "
            f"trackable TensorFlow objects). {why} {_WHY_NOT}"
        )

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        self._catch_up()
        if self._mutation is not None:
            raise self._refuse(self._mutation)
        return super()._checkpoint_dependencies

    def _catch_up(self) -> None:
        """Takes over what was done to the wrapped one from outside."""
        if self._is_up_to_date():
            return
        before = self._plain()
        if self._mutation is None and before != self._wrapped:
            self._mutation = (
                f"The wrapped {self._kind} was modified outside the wrapper (its final value was "
                f"{self._wrapped}, its value when a checkpoint dependency was added was "
                f"{before}), which breaks restoration on object creation."
            )
        self._take_over()

    def _is_up_to_date(self) -> bool:
        raise NotImplementedError

    def _take_over(self) -> None:
        raise NotImplementedError

    def _plain(self) -> Any:
        """Its elements, as this object has them, in a container of Python's own type."""
        raise NotImplementedError

    def copy(self) -> Any:
        self._catch_up()
        made: Any = type(self)(self._plain())  # type: ignore[call-arg]
        made._mutation = self._mutation
        return made

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        self._catch_up()
        made: Any = type(self)(copy.deepcopy(self._plain(), memo))  # type: ignore[call-arg]
        made._mutation = self._mutation
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        self._catch_up()
        return type(self), (self._plain(),)

    __hash__ = None  # type: ignore[assignment]


def _looking(base: Any, *names: str) -> Callable[[type], type]:
    """Lets methods that only look at the elements look at those of the wrapped container."""

    def method(name: str) -> Callable[..., Any]:
        @functools.wraps(getattr(base, name))
        def looked(self: Any, *args: Any) -> Any:
            if name in _OPERATORS:  # which ask their other side, too: it may be a wrapper itself
                return getattr(operator, name)(self._wrapped, *args)
            return getattr(self._wrapped, name)(*args)

        return looked

    def decorated(kind: type) -> type:
        for name in names:
            setattr(kind, name, method(name))
        return kind

    return decorated


_COMPARING = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
_OPERATORS = (*_COMPARING, "__add__", "__or__")
_LOOKING = ("__contains__", "__getitem__", "__iter__", "__len__", "__reversed__", "__sizeof__")
_MOVED = (
    "A list element was replaced (__setitem__, __setslice__), deleted (__delitem__, "
    "__delslice__), or moved (sort)."
)


@_looking(list, *_LOOKING, *_COMPARING, "__add__", "__mul__", "__rmul__", "count", "index")
class ListWrapper(_Wrapper, list[Any]):
    """A list that was assigned to an attribute; elements are named by their positions."""

    _kind = "list"

    def __init__(self, wrapped_list: list[Any]):
        list.__init__(self)
        self._wrapped = wrapped_list
        list.extend(self, [self._track_value(v, str(i)) for i, v in enumerate(wrapped_list)])
        self._copy_back()

    @property
    def _values(self) -> Iterable[Any]:
        return self

    def _plain(self) -> Any:
        return list.copy(self)

    def _is_up_to_date(self) -> bool:
        plain = self._plain()
        return len(plain) == len(self._wrapped) and all(map(operator.is_, plain, self._wrapped))

    def _take_over(self) -> None:
        list.__setitem__(self, slice(None), self._wrapped)

    def _copy_back(self) -> None:
        self._wrapped[:] = self._plain()

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """A block that changes elements other than by appending."""
        self._catch_up()
        self._mutation = _MOVED
        yield
        self._copy_back()

    def append(self, value: Any) -> None:
        self._catch_up()
        list.append(self, self._track_value(value, str(len(self))))
        self._copy_back()

    def extend(self, values: Iterable[Any]) -> None:
        for value in list(values):
            self.append(value)

    def __radd__(self, other: Any) -> Any:
        return other + self._wrapped

    def __iadd__(self, values: Iterable[Any]) -> Any:  # type: ignore[misc]
        self.extend(values)
        return self

    def __imul__(self, times: Any) -> Any:  # type: ignore[misc]
        if times <= 0:
            self.clear()
        else:
            self.extend(list(self) * (times - 1))
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        self._catch_up()
        before = self._plain()
        list.__setitem__(self, key, value)
        now = self._plain()
        for index, element in enumerate(now):
            if index >= len(before) or element is not before[index]:
                now[index] = self._track_value(element, str(index))
        list.__setitem__(self, slice(None), now)
        self._copy_back()
        moved = [old for i, old in enumerate(before) if i >= len(now) or now[i] is not old]
        if any(isinstance(old, Trackable) for old in moved):
            self._mutation = _MOVED

    def __delitem__(self, key: Any) -> None:
        with self._changing():
            list.__delitem__(self, key)

    def insert(self, index: Any, obj: Any) -> None:
        with self._changing():
            list.insert(self, index, obj)

    def pop(self, index: Any = -1) -> Any:
        value = self[index]
        del self[index]
        return value

    def remove(self, value: Any) -> None:
        del self[self.index(value)]

    def clear(self) -> None:
        del self[:]

    def sort(self, **kwargs: Any) -> None:
        with self._changing():
            list.sort(self, **kwargs)

    def reverse(self) -> None:
        with self._changing():
            list.reverse(self)

    def __repr__(self) -> str:
        self._catch_up()
        return f"ListWrapper({self._plain()!r})"


class _AnyDictWrapper(_Wrapper):
    """A dictionary that was assigned to an attribute; values are named by their keys."""

    _kind = "dictionary"
    _base: Any = dict

    def __init__(self, wrapped_dict: Any = None):
        self._base.__init__(self)
        self._wrapped = self._base() if wrapped_dict is None else wrapped_dict
        if not isinstance(self._wrapped, AbstractMapping):
            self._wrapped = self._base(self._wrapped)
        for key, value in list(self._wrapped.items()):
            self._base.__setitem__(self, key, self._owned(key, value))
        self._copy_back()

    @property
    def _values(self) -> Iterable[Any]:
        return [self[key] for key in sorted(self, key=str)]  # type: ignore[call-overload,index]

    def _plain(self) -> Any:
        return self._base(self._base.items(self))

    def _is_up_to_date(self) -> bool:
        plain = self._plain()
        return list(plain) == list(self._wrapped) and all(
            map(operator.is_, plain.values(), self._wrapped.values())
        )

    def _take_over(self) -> None:
        self._base.clear(self)
        for key, value in self._wrapped.items():
            self._base.__setitem__(self, key, value)

    def _copy_back(self) -> None:
        self._wrapped.clear()
        self._wrapped.update(self._plain())

    def _owned(self, key: Any, value: Any) -> Any:
        if isinstance(key, str):
            return self._track_value(value, key)
        wrapped = wrap_or_unwrap(value)
        if isinstance(wrapped, Trackable) and not isinstance(value, NoDependency):
            self._mutation = (
                "The wrapped dictionary contains a non-string key which maps to a trackable "
                "object or mutable data structure."
            )
        return wrapped

    def __setitem__(self, key: Any, value: Any) -> None:
        self._catch_up()
        value = self._owned(key, value)
        self._base.__setitem__(self, key, value)
        self._wrapped[key] = value

    def __delitem__(self, key: Any) -> None:
        self._catch_up()
        self._base.__delitem__(self, key)
        del self._wrapped[key]

    def update(self, *args: Any, **kwargs: Any) -> None:
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    # The rest changes the wrapped one, which makes it one that can't be saved.

    def setdefault(self, key: Any, default: Any = None) -> Any:
        return self._wrapped.setdefault(key, default)

    def pop(self, key: Any, *default: Any) -> Any:
        return self._wrapped.pop(key, *default)

    def popitem(self, *args: Any) -> Any:
        return self._wrapped.popitem(*args)

    def clear(self) -> None:
        self._wrapped.clear()

    def __repr__(self) -> str:
        self._catch_up()
        return f"DictWrapper({self._plain()!r})"


_LOOKING_AT_KEYS = ("__eq__", "__ne__", "__or__", "get", "keys", "values", "items")


@_looking(dict, *_LOOKING, *_LOOKING_AT_KEYS)
class _DictWrapper(_AnyDictWrapper, dict[Any, Any]):
    """A plain dictionary."""


@_looking(OrderedDict, *_LOOKING, *_LOOKING_AT_KEYS)
class _OrderedDictWrapper(_AnyDictWrapper, OrderedDict[Any, Any]):
    """An ordered dictionary."""

    _base = OrderedDict

    def move_to_end(self, key: Any, last: bool = True) -> None:
        self._wrapped.move_to_end(key, last)


_WRAPPERS: dict[type, Any] = {
    list: ListWrapper,
    dict: _DictWrapper,
    OrderedDict: _OrderedDictWrapper,
}
