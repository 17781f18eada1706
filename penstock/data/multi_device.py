"""`MultiDeviceIterator`: the elements of a dataset for several devices in turns."""

from __future__ import annotations

from typing import Any

from penstock import dtypes, errors
from penstock.data import structure
from penstock.data.dataset import DatasetV2, flat_structure
from penstock.data.eager_iterator import IteratorV2
from penstock.data.experimental.optional import get_next_as_optional
from penstock.data.generator import _GeneratorDataset
from penstock.data.options import Options
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ops.constants import constant
from penstock.ops.control import device as device_scope
from penstock.ops.control import group
from penstock.ops.datasets import multi_device as nodes
from penstock.ops.identity import identity

__all__ = ["MultiDeviceIterator", "MultiDeviceIteratorV2"]


class MultiDeviceIterator:
    """Deals the elements of a dataset out: of n devices, number i gets elements i, i + n, …

    Args:
      dataset: the dataset.
      devices: the devices' names.
      max_buffer_size: at least `prefetch_buffer_size`; elements that other devices have not asked
        for yet are kept without a limit.
      prefetch_buffer_size: how many elements are read ahead for each device.
      source_device: where the dataset is read.
    """

    def __init__(
        self,
        dataset: DatasetV2,
        devices: Any,
        max_buffer_size: int = 1,
        prefetch_buffer_size: int = 1,
        source_device: str = "/cpu:0",
    ):
        self._devices = list(devices)
        options = Options()
        options.experimental_distribute.num_devices = len(self._devices)
        self._dataset = dataset.with_options(options)._apply_options()
        self._source_device = source_device
        self._prefetch_buffer_size = prefetch_buffer_size
        self._max_buffer_size = max(max_buffer_size, prefetch_buffer_size)
        with device_scope(source_device):
            self._resource = nodes.MultiDeviceIterator(
                devices=self._devices,
                shared_name="",
                container="",
                **flat_structure(self._dataset.element_spec),
            )
            self._incarnation_id = nodes.MultiDeviceIteratorInit(
                self._dataset._variant_tensor, self._resource, self._max_buffer_size
            )
            # They share the handle, so they stay with it: elements go to the devices.
            shards = [self._of_device(number) for number in range(len(self._devices))]
            self._device_iterators = [self._iterator(shard) for shard in shards]
            self._initializer = self._start()

    def _iterator(self, dataset: Any) -> Any:
        if executing_eagerly():
            return IteratorV2(dataset)
        return dataset.make_initializable_iterator()

    def _start(self) -> Any:
        """The operation that starts all iterators; those of eager mode have begun."""
        return group(*[getattr(each, "initializer", None) for each in self._device_iterators])

    def _of_device(self, number: int) -> Any:
        """The dataset of the elements that one device gets."""
        spec = self._dataset.element_spec

        def next_element(incarnation: Any) -> Any:
            tensors = nodes.MultiDeviceIteratorGetNextFromShard(
                self._resource,
                convert_to_tensor(number, dtypes.int32),
                incarnation,
                **flat_structure(spec),
            )
            return structure.from_tensor_list(spec, list(tensors))

        made = _GeneratorDataset(
            self._incarnation_id,
            lambda incarnation: incarnation,
            next_element,
            lambda incarnation: constant(0, dtypes.int64),
        )
        size = self._prefetch_buffer_size
        return made.prefetch(size) if size > 0 else made

    @property
    def initializer(self) -> Any:
        """The operation that starts the dataset anew, for all devices."""
        return self._initializer

    @property
    def element_spec(self) -> Any:
        """The types and shapes of an element."""
        return self._dataset.element_spec

    def get_next(self, device: str | None = None) -> Any:
        """The next element of each device, or that of one."""
        if device is not None:
            return self._next_of(self._devices.index(device))
        return [self._next_of(number) for number in range(len(self._devices))]

    def _next_of(self, number: int) -> Any:
        spec = self._dataset.element_spec
        with device_scope(self._source_device):
            element = self._device_iterators[number].get_next()
        with device_scope(self._devices[number]):
            tensors = [identity(tensor) for tensor in structure.to_tensor_list(spec, element)]
            return structure.from_tensor_list(spec, tensors)

    def get_next_as_optional(self) -> list[Any]:
        """The next element of each device as an optional, which is empty at the end."""
        with device_scope(self._source_device):
            return [get_next_as_optional(iterator) for iterator in self._device_iterators]


class MultiDeviceIteratorV2(MultiDeviceIterator):
    """The same as a Python iterator over lists of one element for each device.

    It is for eager mode and the bodies of functions: it has begun when it is made.
    """

    def __init__(self, dataset: DatasetV2, devices: Any, *args: Any, **kwargs: Any):
        if not executing_eagerly() and not get_default_graph().building_function:
            raise RuntimeError(
                "MultiDeviceIteratorV2 is only supported inside of tf.function or in eager mode; "
                "in a graph use MultiDeviceIterator, which has an initializer."
            )
        super().__init__(dataset, devices, *args, **kwargs)

    def _iterator(self, dataset: Any) -> Any:
        return IteratorV2(dataset)

    def __iter__(self) -> MultiDeviceIteratorV2:
        return self

    def __next__(self) -> Any:
        try:
            return self.get_next()
        except errors.OutOfRangeError:
            raise StopIteration from None

    next = __next__
