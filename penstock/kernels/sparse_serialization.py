"""Kernels that pack sparse tensors into strings, variants or a map, and unpack batches of them."""

import itertools

import numpy as np

from penstock import dtypes, proto
from penstock.ir.tensor_codec import array_to_proto, proto_to_array
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.sparse_rows import brackets, check_parts, invalid, on_arrays
from penstock.kernels.values import from_array, to_array
from penstock.state.sparse_tensors_map import SparseTensorsMap

# Packing --------------------------------------------------------------------------------------


def _packer(node):
    """The function that packs an array: a serialized TensorProto, or the array itself."""
    if node.attrs["out_type"] is dtypes.variant:
        return lambda array, dtype: array
    return _to_string


def _to_string(array, dtype):
    message = array_to_proto(array[:0], dtype)
    message.tensor_shape.dim[0].size = len(array)
    if dtype is dtypes.string:
        lengths = b"".join(_varint(len(entry)) for entry in array)
        message.tensor_content = lengths + b"".join(array)
    else:
        message.tensor_content = np.ascontiguousarray(array).tobytes()
    return message.SerializeToString(deterministic=True)


def _varint(number):
    """A number in bytes of seven bits, the lowest first; all but the last have the top bit set."""
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


@kernel("SerializeSparse", devices=HOST, fresh=True)
def _(node):
    pack, dtype = _packer(node), node.attrs["T"]

    def run(*parts):  # of each element of a pipeline, so without what arithmetic would need
        indices, values, shape = map(to_array, parts)
        check_parts(indices, values, shape)
        result = np.empty(3, dtype=object)
        result[0] = pack(indices, dtypes.int64)
        result[1] = pack(values, dtype)
        result[2] = pack(shape, dtypes.int64)
        return result

    return run


@kernel("SerializeManySparse", devices=HOST, fresh=True)
def _(node):
    pack, dtype = _packer(node), node.attrs["T"]

    @on_arrays
    def run(indices, values, shape):
        check_parts(indices, values, shape)
        parts = _entries_of_batch(indices, values, shape)
        result = np.empty((len(parts), 3), dtype=object)
        packed_shape = pack(shape[1:], dtypes.int64)
        for number, (rows, entries) in enumerate(parts):
            result[number, 0] = pack(rows, dtypes.int64)
            result[number, 1] = pack(entries, dtype)
            result[number, 2] = packed_shape
        return result

    return run


def _entries_of_batch(indices, values, shape):
    """The indices and values of each entry of the first dimension, which must be in order."""
    if len(shape) < 2:
        raise invalid(f"Rank of input SparseTensor should be > 1, but saw rank: {len(shape)}")
    numbers, count = indices[:, 0], int(shape[0])
    if len(numbers) and (numbers.min() < 0 or numbers.max() >= count):
        bad = numbers[(numbers < 0) | (numbers >= count)][0]
        raise invalid(f"Received unexpected column 0 value in input SparseTensor: {bad}, N={count}")
    if (numbers[1:] < numbers[:-1]).any():
        raise invalid(
            "indices of the input SparseTensor must be in the order of their first column"
        )
    ends = np.searchsorted(numbers, np.arange(count + 1))
    return [(indices[start:end, 1:], values[start:end]) for start, end in itertools.pairwise(ends)]


# Unpacking ------------------------------------------------------------------------------------


def _from_string(packed):
    message = proto.TensorProto()
    try:
        message.ParseFromString(packed)
    except Exception:
        raise invalid("Could not parse serialized proto") from None
    if message.dtype == dtypes.string.as_datatype_enum and message.tensor_content:
        return _strings(message)
    return proto_to_array(message)


def _strings(message):
    """Strings in TensorFlow's content form: all lengths, then all bytes."""
    content, position, lengths = message.tensor_content, 0, []
    shape = [dim.size for dim in message.tensor_shape.dim]
    for _ in range(int(np.prod(shape))):
        length = shift = 0
        while content[position] & 0x80:
            length |= (content[position] & 0x7F) << shift
            shift += 7
            position += 1
        length |= content[position] << shift
        position += 1
        lengths.append(length)
    result = np.empty(len(lengths), dtype=object)
    for number, length in enumerate(lengths):
        result[number] = content[position : position + length]
        position += length
    return result.reshape(shape)


def _unpacked(packed, number, dtype):
    """The three arrays of one packed sparse tensor, checked."""
    indices, values, shape = (
        _from_string(part) if isinstance(part, bytes) else part for part in packed
    )
    if indices.ndim != 2 or indices.dtype != np.int64:
        raise invalid(
            f"Expected serialized_sparse[{number}, 0] to represent an index matrix but received "
            f"shape {brackets(indices.shape)}"
        )
    if values.ndim != 1 or shape.ndim != 1:
        raise invalid(
            f"Expected serialized_sparse[{number}, 1] to represent a values vector but received "
            f"shape {brackets(values.shape)}"
        )
    given = dtypes.string if values.dtype == object else dtypes.as_dtype(values.dtype)
    if given is not dtype:
        raise invalid(
            f"Requested SparseTensor of type {dtypes.runtime_name(dtype)} but "
            f"SparseTensor[{number}].values.dtype() == {dtypes.runtime_name(given)}"
        )
    if len(values) != len(indices) or len(shape) != indices.shape[1]:
        raise invalid(
            f"Expected row counts of SparseTensor[{number}].indices and "
            f"SparseTensor[{number}].values to match but they do not: {len(indices)} vs. "
            f"{len(values)}"
        )
    return indices, values, shape


def _batched(parts, sizes):
    """Sparse tensors as one, with dimensions of `sizes` in front that tell them apart."""
    all_indices, all_values, shapes = zip(*parts, strict=True)
    rank = len(shapes[0])
    for number, shape in enumerate(shapes):
        if len(shape) != rank:
            raise invalid(
                f"Inconsistent shape across SparseTensors: rank prior to SparseTensor[{number}] "
                f"was: {rank} but rank of SparseTensor[{number}] is: {len(shape)}"
            )
    numbers = np.repeat(np.arange(len(parts)), list(map(len, all_values)))
    within = np.concatenate(all_indices)
    indices = np.empty((len(within), len(sizes) + rank), dtype=np.int64)
    indices[:, len(sizes) :] = within
    for axis, places in enumerate(np.unravel_index(numbers, sizes) if sizes[1:] else [numbers]):
        indices[:, axis] = places
    largest = np.concatenate(shapes).reshape(-1, rank).max(0)
    values = np.concatenate(all_values)
    return indices, values, np.concatenate([sizes, largest]).astype(np.int64)


@kernel("DeserializeSparse", devices=HOST)
def _(node):
    dtype = node.attrs["dtype"]

    @on_arrays
    def run(packed):
        if packed.ndim < 1:
            raise invalid("Serialized sparse should have non-zero rank but received shape []")
        return _deserialized(packed, dtype)

    return run


@kernel("DeserializeManySparse", devices=HOST)
def _(node):
    dtype = node.attrs["dtype"]

    @on_arrays
    def run(packed):
        if packed.ndim != 2:
            raise invalid(
                f"Serialized sparse should be a matrix but received shape {brackets(packed.shape)}"
            )
        return _deserialized(packed, dtype)

    return run


def _deserialized(packed, dtype):
    if packed.shape[-1] != 3:
        raise invalid(
            "Serialized sparse should have 3 as the last dimension but received shape "
            f"{brackets(packed.shape)}"
        )
    if not packed.size:
        raise invalid("Must have at least 1 serialized SparseTensor, but input matrix has 0 rows")
    entries = packed.reshape(-1, 3).tolist()
    if not _are_vectors(entries, dtype):
        entries = [_unpacked(part, i, dtype) for i, part in enumerate(entries)]
    return tuple(entries[0]) if packed.ndim == 1 else _batched(entries, packed.shape[:-1])


def _are_vectors(entries, dtype):
    """Whether all entries are arrays that `_unpacked` would give back, of sparse vectors."""
    kind = dtype.as_numpy_dtype
    for indices, values, shape in entries:
        if type(indices) is not np.ndarray or type(values) is not np.ndarray:
            return False
        count = values.size
        fit = indices.shape == (count, 1) and values.shape == (count,) and shape.shape == (1,)
        if not fit or indices.dtype != np.int64 or values.dtype != kind:
            return False
    return True


# Maps -----------------------------------------------------------------------------------------


def _map_of(node, env):
    name = node.attrs["shared_name"] or node.name
    make = lambda: SparseTensorsMap(name)  # noqa: E731
    return env.resources.get_or_create(SparseTensorsMap, node.attrs["container"], name, make)


@kernel("AddSparseToTensorsMap", devices=HOST, fresh=True)
def _(node, env):
    tensors = _map_of(node, env)

    def run(indices, values, shape):
        arrays = [to_array(part) for part in (indices, values, shape)]
        check_parts(*arrays)
        return from_array(np.array(tensors.add(*[array.copy() for array in arrays]), np.int64))

    return run


@kernel("AddManySparseToTensorsMap", devices=HOST, fresh=True)
def _(node, env):
    tensors = _map_of(node, env)

    def run(indices, values, shape):
        arrays = [to_array(part) for part in (indices, values, shape)]
        check_parts(*arrays)
        sizes = arrays[2][1:].copy()
        handles = [
            tensors.add(rows.copy(), entries.copy(), sizes)
            for rows, entries in _entries_of_batch(*arrays)
        ]
        return from_array(np.array(handles, np.int64))

    return run


@kernel("TakeManySparseFromTensorsMap", devices=HOST, fresh=True)
def _(node, env):
    tensors, dtype = _map_of(node, env), node.attrs["dtype"]

    @on_arrays
    def run(handles):
        if handles.ndim != 1:
            raise invalid(
                f"sparse_handles should be a vector but received shape {brackets(handles.shape)}"
            )
        parts = [
            _unpacked(part, number, dtype)
            for number, part in enumerate(tensors.take(handles.tolist()))
        ]
        if not parts:
            raise invalid("Must have at least 1 serialized SparseTensor, but input has 0 handles")
        return _batched(parts, (len(parts),))

    return run
