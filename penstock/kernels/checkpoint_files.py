"""Kernels that save tensors to checkpoints and restore them."""

import os
from contextlib import nullcontext, suppress

import numpy as np
import torch

from penstock import dtypes, errors, shapes
from penstock.checkpoint import disk
from penstock.checkpoint.bundle_reader import BundleReader
from penstock.checkpoint.bundle_writer import BundleWriter, merge_bundles
from penstock.checkpoint.progress import progress
from penstock.checkpoint.reader import open_checkpoint, stored_size
from penstock.checkpoint.slice_files import SliceFileReader, SliceFileWriter
from penstock.checkpoint.slices import TensorSlice, parse_shape_and_slice
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.values import from_array, to_array
from penstock.platform.paths import local_path


def _text(value):
    if value.ndim:
        raise errors.InvalidArgumentError(
            None, None, f"a name is one string, got a tensor of shape {list(value.shape)}"
        )
    return os.fsdecode(value[()])


def _path(value):
    return local_path(_text(value))


def _texts(value):
    return [os.fsdecode(entry) for entry in value.reshape(-1)]


def _string(text):
    value = np.empty((), dtype=object)
    value[()] = os.fsencode(text)
    return value


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


# Saving ---------------------------------------------------------------------------------------


def _checked_slice(name, spec, array):
    """The shape of the whole and the slice that a value is saved as."""
    whole, part, sizes = parse_shape_and_slice(spec)
    if sizes != array.shape:
        raise _invalid(
            f"Slice in shape_and_slice specification does not match the shape of the tensor to "
            f"save: {spec}, tensor {name}: {list(array.shape)}"
        )
    return whole, part


@kernel("SaveV2", devices=HOST)
def _(node):
    types = [dtype.base_dtype for dtype in node.attrs["dtypes"]]

    def run(prefix, names, specs, *tensors):
        path = _path(prefix)
        total = sum(tensor.nbytes for tensor in tensors if isinstance(tensor, torch.Tensor))
        with progress(f"Saving {os.path.basename(path)}", total) as report:
            writer = BundleWriter(path, report)
            try:
                for name, spec, tensor, dtype in zip(
                    _texts(names), _texts(specs), tensors, types, strict=True
                ):
                    array = to_array(tensor)
                    if spec:
                        writer.add_slice(name, *_checked_slice(name, spec, array), array, dtype)
                    else:
                        writer.add(name, array, dtype)
                writer.finish()
            except BaseException:
                writer.discard()
                raise

    return run


@kernel("Save", "SaveSlices", devices=HOST)
def _(node):
    types = [dtype.base_dtype for dtype in node.attrs["T"]]
    sliced = node.type == "SaveSlices"

    def run(filename, names, *rest):
        specs, tensors = (_texts(rest[0]), rest[1:]) if sliced else ([""] * len(rest), rest)
        writer = SliceFileWriter(_path(filename))
        for name, spec, tensor, dtype in zip(_texts(names), specs, tensors, types, strict=True):
            array = to_array(tensor)
            shape, part = array.shape, TensorSlice.whole(array.ndim)
            if spec:
                shape, part = _checked_slice(name, spec, array)
            writer.add(name, shape, part, array, dtype)
        writer.finish()

    return run


@kernel("MergeV2Checkpoints", devices=HOST)
def _(node):
    def run(prefixes, destination):
        sources, target = [local_path(prefix) for prefix in _texts(prefixes)], _path(destination)
        merge_bundles(sources, target)
        if node.attrs["delete_old_dirs"]:
            for directory in {os.path.dirname(prefix) for prefix in sources}:
                # Others may have files there: the directory then stays.
                if directory != os.path.dirname(target):
                    with suppress(OSError):
                        disk.current.remove_directory(directory)

    return run


@kernel("ShardedFilename", devices=HOST)
def _(node):
    def run(base, shard, shards):
        return _string(f"{_text(base)}-{int(shard):05d}-of-{int(shards):05d}")

    return run


@kernel("ShardedFilespec", devices=HOST)
def _(node):
    return lambda base, shards: _string(f"{_text(base)}-?????-of-{int(shards):05d}")


# Restoring ------------------------------------------------------------------------------------


def _restored(reader, name, spec, dtype):
    """The value of a tensor, or of a slice of it, of the type that the graph expects."""
    stored = reader.dtype(name)
    if stored is not dtype:
        raise _invalid(
            f"tensor_name = {name}; expected dtype {dtypes.runtime_name(dtype)} does not equal "
            f"original dtype {dtypes.runtime_name(stored)}"
        )
    if not spec:
        return from_array(reader.read(name))
    whole, part, _ = parse_shape_and_slice(spec)
    if whole != reader.shape(name):
        raise _invalid(
            f"tensor_name = {name}; shape in shape_and_slice spec {shapes.text(whole)} does not "
            f"match the shape stored in checkpoint: {shapes.text(reader.shape(name))}"
        )
    return from_array(reader.read_slice(name, part))


@kernel("RestoreV2", devices=HOST, fresh=True)
def _(node):
    types = [dtype.base_dtype for dtype in node.attrs["dtypes"]]

    def run(prefix, names, specs):
        path, names = _path(prefix), _texts(names)
        with progress(f"Restoring {os.path.basename(path)}", stored_size(path)) as report:
            reader = open_checkpoint(path, report)
            held = reader.held_open() if isinstance(reader, BundleReader) else nullcontext()
            with held:
                values = [
                    _restored(reader, name, spec, dtype)
                    for name, spec, dtype in zip(names, _texts(specs), types, strict=True)
                ]
        return values if len(values) != 1 else values[0]

    return run


@kernel("Restore", "RestoreSlice", devices=HOST, fresh=True)
def _(node):
    dtype = node.attrs["dt"].base_dtype

    def run(pattern, name, spec=None):
        reader = SliceFileReader(_path(pattern))
        return _restored(reader, _text(name), "" if spec is None else _text(spec), dtype)

    return run
