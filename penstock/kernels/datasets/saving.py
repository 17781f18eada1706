"""The place of an iterator in its pipeline as a value that checkpoints can hold.

It is a VariantTensorData message: the structure as JSON, tensors beside it.
"""

from __future__ import annotations

import json

import numpy as np
import torch

from penstock import dtypes, errors, proto
from penstock.ir.tensor_codec import array_to_proto, proto_to_array
from penstock.kernels.datasets.batching import ListDataset
from penstock.kernels.datasets.pipeline_graphs import check_repeatable
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.sparse_rows import invalid
from penstock.kernels.values import from_array, to_array

_TYPE_NAME = "tensorflow::data::IteratorStateVariant"
_TENSOR = "tensor"  # the key of a structure's places that are tensors: {"tensor": number}
_DATASET = "dataset"  # of those that are windows or groups: {"dataset": [elements]}
_VARIANTS = "variants"  # of those that are arrays of tensors: {"variants": [places], "shape": […]}


def encode_state(state) -> bytes:
    """Plain data with runtime values in it as a message."""
    message = proto.VariantTensorDataProto(type_name=_TYPE_NAME)

    def plain(part):
        if part is None or isinstance(part, (bool, int, str)):
            return part
        if isinstance(part, dict):
            return {"dict": {key: plain(value) for key, value in part.items()}}
        if isinstance(part, (list, tuple)):
            return [plain(value) for value in part]
        if isinstance(part, ListDataset):
            return {_DATASET: [plain(element) for element in part.elements]}
        if isinstance(part, (torch.Tensor, np.ndarray, bytes)):
            return _value(part)
        raise errors.UnimplementedError(
            None, None, f"a {type(part).__name__} in a pipeline's state can't be saved"
        )

    def _value(part):
        array = np.array(part, dtype=object) if isinstance(part, bytes) else to_array(part)
        flat = array.reshape(-1)
        if array.dtype == object and flat.size and not isinstance(flat[0], bytes):
            return {_VARIANTS: [plain(entry) for entry in flat], "shape": list(array.shape)}
        dtype = dtypes.string if array.dtype == object else dtypes.as_dtype(array.dtype)
        message.tensors.append(array_to_proto(array, dtype))
        return {_TENSOR: len(message.tensors) - 1, "host": isinstance(part, np.ndarray)}

    message.metadata = json.dumps(plain(state)).encode()
    return message.SerializeToString(deterministic=True)


def decode_state(data: bytes):
    """The plain data of a message."""
    message = proto.VariantTensorDataProto()
    try:
        message.ParseFromString(data)
        state = json.loads(message.metadata)
    except Exception:
        raise invalid("the value is no saved state of an iterator") from None

    def full(part):
        if isinstance(part, list):
            return [full(value) for value in part]
        if not isinstance(part, dict):
            return part
        if "dict" in part:
            return {key: full(value) for key, value in part["dict"].items()}
        if _DATASET in part:
            return ListDataset([tuple(full(element)) for element in part[_DATASET]])
        if _VARIANTS in part:
            array = np.empty(len(part[_VARIANTS]), dtype=object)
            for place, value in enumerate(part[_VARIANTS]):
                array[place] = full(value)
            return array.reshape(part["shape"])
        array = proto_to_array(message.tensors[part[_TENSOR]])
        return array if part["host"] else from_array(array)

    return full(state)


@kernel("SerializeIterator", devices=HOST)
def _(node):
    def run(resource):
        if resource.dataset is not None:
            check_repeatable(resource.dataset)
        result = np.empty(1, dtype=object)
        result[0] = encode_state(resource.save())
        return result

    return run


@kernel("DeserializeIterator", devices=HOST, step=True)
def _(node, env):
    # In eager mode there is no graph to look at: the iterator has its dataset already.
    handles = node.origin.inputs[:1]
    makers = [op for each in handles for op in each.consumers() if op.type == "MakeIterator"]

    def run(step, resource, packed):
        if not resource.is_initialized and len(makers) == 1:
            # The state says where in the dataset, not in which one: that is the graph's.
            resource.start(env.tensor_reader(makers[0].inputs[0])(step), step)
        if packed.ndim > 1 or packed.size != 1 or not isinstance(packed.reshape(-1)[0], bytes):
            raise invalid("the value is no saved state of an iterator")
        resource.restore(decode_state(packed.reshape(-1)[0]), step)

    return run
