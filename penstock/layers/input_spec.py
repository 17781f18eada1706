"""`tf.layers.InputSpec`: what a layer demands of its inputs."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir import nest
from penstock.ir.tensor_spec import TensorSpec
from penstock.shapes import TensorShape


class InputSpec:
    """Type, rank and sizes that an input must have; None demands nothing.

    Args:
      dtype: the type.
      shape: the shape, with None for axes of any size.
      ndim: the rank; `shape` decides it where given.
      max_ndim: the largest rank.
      min_ndim: the smallest rank.
      axes: sizes by axis.
    """

    def __init__(
        self,
        dtype: Any = None,
        shape: Any = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: dict[int, int] | None = None,
    ):
        self.dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self.shape = shape
        self.ndim = ndim if shape is None else len(shape)
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        try:
            self.axes = {int(axis): size for axis, size in (axes or {}).items()}
        except (ValueError, TypeError, AttributeError):
            raise TypeError("The keys in axes must be integers.") from None
        largest_rank = self.ndim or self.max_ndim
        if self.axes and largest_rank is not None and max(self.axes) >= largest_rank:
            raise ValueError(
                f"Axis {max(self.axes)} is greater than the maximum allowed value: "
                f"{largest_rank - 1}"
            )

    def __repr__(self) -> str:
        given = ", ".join(f"{key}={value}" for key, value in self.get_config().items() if value)
        return f"InputSpec({given})"

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal InputSpec."""
        keys = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")
        return {key: getattr(self, key) for key in keys}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> InputSpec:
        """The InputSpec with the arguments that `get_config` gave."""
        return cls(**config)


def to_tensor_shape(spec: InputSpec) -> TensorShape:
    """The shape that a spec demands, as far as it does."""
    if spec.shape is not None:
        return TensorShape(spec.shape)
    if spec.ndim is None:
        return TensorShape(None)
    return TensorShape([spec.axes.get(axis) for axis in range(spec.ndim)])


def to_tensor_spec(input_spec: Any, default_dtype: Any = "float32") -> TensorSpec:
    """The spec of tensors that meet an InputSpec."""
    if not isinstance(input_spec, InputSpec):
        return TensorSpec(None, default_dtype)
    return TensorSpec(to_tensor_shape(input_spec), input_spec.dtype or default_dtype)


def check_inputs(input_spec: Any, inputs: Any, layer_name: str) -> None:
    """Refuses inputs that don't meet a layer's (structure of) InputSpec."""
    if not input_spec:
        return
    given = nest.flatten(inputs)
    wanted = nest.flatten(input_spec)
    if len(given) != len(wanted):
        raise ValueError(
            f"Layer {layer_name} expects {len(wanted)} inputs, but it received {len(given)} input "
            f"tensors. Inputs received: {given}"
        )
    for index, (tensor, spec) in enumerate(zip(given, wanted, strict=True)):
        fault = None if spec is None else _rank_fault(spec, tensor) or _fault(spec, tensor)
        if fault is not None:
            raise ValueError(
                f"Input {index} of layer {layer_name} is incompatible with the layer: {fault}"
            )
        misfit = None if spec is None else _size_fault(spec, tensor)
        if misfit is not None:  # TensorFlow says this one in other words
            raise ValueError(f"Input {index} is incompatible with layer {layer_name}: {misfit}")


def _rank_fault(spec: InputSpec, tensor: Any) -> str | None:
    if spec.ndim is None and spec.min_ndim is None and spec.max_ndim is None:
        return None
    rank = tensor.shape.ndims
    if rank is None:
        return "its rank is undefined, but the layer requires a defined rank."
    received = f"found ndim={rank}. Full shape received: {tensor.shape.as_list()}"
    if spec.ndim is not None and rank != spec.ndim:
        return f"expected ndim={spec.ndim}, {received}"
    if spec.max_ndim is not None and rank > spec.max_ndim:
        return f"expected max_ndim={spec.max_ndim}, found ndim={rank}"
    if spec.min_ndim is not None and rank < spec.min_ndim:
        return f": expected min_ndim={spec.min_ndim}, {received}"  # the second colon is TF's
    return None


def _fault(spec: InputSpec, tensor: Any) -> str | None:
    if spec.dtype is not None and tensor.dtype.base_dtype.name != spec.dtype:
        return f"expected dtype={spec.dtype}, found dtype={tensor.dtype}"
    if tensor.shape.ndims is None:
        return None
    shape = tensor.shape.as_list()
    for axis, wanted in spec.axes.items():
        size = getattr(wanted, "value", wanted)
        if size is not None and shape[axis] not in (size, None):
            return (
                f"expected axis {axis} of input shape to have value {size} but received input with "
                f"shape {shape}"
            )
    return None


def _size_fault(spec: InputSpec, tensor: Any) -> str | None:
    if spec.shape is None or tensor.shape.ndims is None:
        return None
    shape = tensor.shape.as_list()
    for wanted, size in zip(spec.shape, shape, strict=False):
        if None not in (wanted, size) and wanted != size:
            return f"expected shape={spec.shape}, found shape={shape}"
    return None


assert_input_compatibility = check_inputs
