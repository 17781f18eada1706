"""Lists: Python's own, TensorArrays, and lists of tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import penstock as tf
from penstock.autograph.operators.tensor_kinds import is_tensor
from penstock.ops import list_functions
from penstock.ops.tensor_lists import TensorListLength, TensorListPushBack

_NOT_A_LIST = "tensor lists are expected to be Tensors with dtype=tf.variant, instead found {}"


class ListPopOpts(NamedTuple):
    """What a list of tensors does not know of the item that is taken from it."""

    element_dtype: Any
    element_shape: Any


class ListStackOpts(NamedTuple):
    """What a list of tensors does not know of its items, and what stacks any other list."""

    element_dtype: Any
    original_call: Callable[[Any], Any]


def new_list(iterable: Iterable[Any] | None = None) -> Any:
    """`list(iterable)`; without items, a list of tensors."""
    elements = tuple(iterable) if iterable else ()
    return list(elements) if elements else tf_tensor_list_new(elements)


def _only(found: Iterable[Any]) -> Any:
    """The one value that all have, or None."""
    kinds = list(dict.fromkeys(found))
    return kinds[0] if len(kinds) == 1 else None


def _shape_of(element: tf.Tensor) -> tuple[int | None, ...]:
    return tuple(element.shape.as_list())


def _refuse_other(what: str, given: Any, inferred: Any, elements: Any) -> None:
    if given is not None and given != inferred:
        raise ValueError(
            f"incompatible {what}; specified: {given}, inferred from {elements}: {inferred}"
        )


def tf_tensor_array_new(elements: Any, element_dtype: Any = None, element_shape: Any = None) -> Any:
    """A TensorArray of some elements, which may grow."""
    elements = tuple(tf.convert_to_tensor(element) for element in elements)
    if not elements and element_dtype is None:
        raise ValueError("dtype is required to create an empty TensorArray")
    for what, found in (
        ("dtype", {element.dtype for element in elements}),
        ("shape", {_shape_of(element) for element in elements}),
    ):
        if len(found) > 1:
            raise ValueError(
                f"TensorArray requires all elements to have the same {what}: {elements}"
            )
    if elements:
        _refuse_other("dtype", element_dtype, elements[0].dtype, elements)
        _refuse_other("shape", element_shape, _shape_of(elements[0]), elements)
        element_dtype, element_shape = elements[0].dtype, _shape_of(elements[0])
    array = tf.TensorArray(
        dtype=element_dtype,
        size=len(elements),
        dynamic_size=True,
        infer_shape=element_shape is None,
        element_shape=element_shape,
    )
    for place, element in enumerate(elements):
        array = array.write(place, element)
    return array


def tf_tensor_list_new(elements: Any, element_dtype: Any = None, element_shape: Any = None) -> Any:
    """A list of tensors with some elements; they may differ in type and shape."""
    if is_tensor(elements):
        if element_shape is not None:
            raise ValueError("element shape may not be specified when creating list from tensor")
        shape = tf.shape(elements)[1:]
        return list_functions.tensor_list_from_tensor(elements, element_shape=shape)
    elements = tuple(tf.convert_to_tensor(element) for element in elements)
    dtype = _only(element.dtype for element in elements)
    shape = _only(_shape_of(element) for element in elements)
    _check_given("dtype", element_dtype, dtype, elements)
    _check_given("shape", element_shape, shape, elements)
    if element_dtype is None:
        element_dtype = tf.variant if dtype is None else dtype
    if element_shape is None:  # -1 stands for a shape that is not known
        element_shape = tf.constant(-1) if shape is None else tf.shape(elements[0])
    made = list_functions.empty_tensor_list(
        tf.convert_to_tensor(element_shape, dtype=tf.int32), element_dtype
    )
    for element in elements:
        made = TensorListPushBack(made, element)
    return made


def _check_given(what: str, given: Any, inferred: Any, elements: tuple[Any, ...]) -> None:
    """Refuses a type or shape of elements that have another one, or several."""
    if not elements or given is None:
        return
    if inferred is None:
        raise ValueError(
            f"specified {what} {given} is inconsistent with that of elements {elements}"
        )
    _refuse_other(what, given, inferred, elements)


def list_append(list_: Any, x: Any) -> Any:
    """`list_.append(x)`; the list after that, which is a new one if it is a tensor's."""
    if isinstance(list_, tf.TensorArray):
        return list_.write(list_.size(), x)
    if not is_tensor(list_):
        list_.append(x)
        return list_
    if list_.dtype != tf.variant:
        raise ValueError(_NOT_A_LIST.format(list_))

    def list_of_such() -> Any:
        element = tf.convert_to_tensor(x)
        return list_functions.empty_tensor_list(tf.shape(element), element.dtype)

    # An empty list takes its type from the first element.
    started = tf.cond(TensorListLength(list_) > 0, lambda: list_, list_of_such, strict=True)
    return TensorListPushBack(started, x)


def list_pop(list_: Any, i: Any, opts: ListPopOpts) -> tuple[Any, Any]:
    """The list after `list_.pop(i)`, and what was taken."""
    assert isinstance(opts, ListPopOpts)
    if isinstance(list_, tf.TensorArray):
        raise ValueError("TensorArray does not support item removal")
    if not is_tensor(list_):
        return list_, list_.pop() if i is None else list_.pop(i)
    if list_.dtype != tf.variant:
        raise ValueError(_NOT_A_LIST.format(list_))
    if i is not None:
        raise NotImplementedError("tensor lists only support removing from the end")
    for what, known in (("type", opts.element_dtype), ("shape", opts.element_shape)):
        if known is None:
            raise ValueError(
                f"cannot pop from a list without knowing its element {what}; use set_element_type "
                "to annotate it"
            )
    left, taken = list_functions.tensor_list_pop_back(list_, element_dtype=opts.element_dtype)
    taken.set_shape(opts.element_shape)
    return left, taken


def list_stack(list_: Any, opts: ListStackOpts) -> Any:
    """The items of a list as one tensor; a tensor stays what it is."""
    assert isinstance(opts, ListStackOpts)
    if isinstance(list_, tf.TensorArray):
        return list_.stack()
    if not is_tensor(list_):
        return opts.original_call(list_)
    if list_.dtype != tf.variant:
        return list_
    if opts.element_dtype is None:
        raise ValueError(
            "cannot stack a list without knowing its element type; use set_element_type to "
            "annotate it"
        )
    return list_functions.tensor_list_stack(list_, element_dtype=opts.element_dtype)
