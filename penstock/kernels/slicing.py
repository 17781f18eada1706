"""Kernels of parts of tensors: views wherever the strides are positive."""

from penstock import dtypes, errors, shapes
from penstock.kernels import variants
from penstock.kernels.known_inputs import is_text, known_list
from penstock.kernels.registry import kernel
from penstock.kernels.signed_bits import as_signed
from penstock.ops import slice_spec
from penstock.ops.slice_spec import Masks

# Slice ----------------------------------------------------------------------------------------


def _checked_part(begin, size, shape):
    """The part that starts at `begin` and has `size`, as an index."""
    if len(begin) != len(shape) or len(size) != len(shape):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Expected begin and size arguments to be 1-D tensors of size {len(shape)}, but got "
            f"sizes {len(begin)} and {len(size)} instead.",
        )
    found = []
    for i, (start, count, total) in enumerate(zip(begin, size, shape, strict=True)):
        if not 0 <= start <= total:
            message = f"Expected begin[{i}] in [0, {total}], but got {start}"
            raise errors.InvalidArgumentError(None, None, message)
        end = total if count == -1 else start + count
        if not start <= end <= total:
            message = f"Expected size[{i}] in [0, {total - start}], but got {count}"
            raise errors.InvalidArgumentError(None, None, message)
        found.append(slice(start, end))
    return tuple(found)


@kernel("Slice")
def _(node, env):
    known_begin, known_size = known_list(node, env, 1), known_list(node, env, 2)

    def run(x, begin, size):
        begin = known_begin if known_begin is not None else begin.tolist()
        size = known_size if known_size is not None else size.tolist()
        return x[_checked_part(begin, size, x.shape) or ...]

    shape = node.inputs[0].shape
    if known_begin is None or known_size is None or shape is None or None in shape:
        return run
    try:
        part = _checked_part(known_begin, known_size, shape) or ...
    except errors.InvalidArgumentError:
        return run  # an error only if the node is really run
    return lambda x, *_: x[part]


# Strided slices -------------------------------------------------------------------------------


def _index_reader(node, env, first):
    """A function from the runtime values of begin, end and strides to an index."""
    masks = Masks.of(node.attrs)
    known = [known_list(node, env, first + i) for i in range(3)]
    if None not in known:
        fixed = slice_spec.index(masks, *known)
        return lambda *_: fixed
    return lambda *bounds: slice_spec.index(
        masks,
        *[
            bound.tolist() if numbers is None else numbers
            for bound, numbers in zip(bounds, known, strict=True)
        ],
    )


def _has_negative_stride(index):
    return any(isinstance(entry, slice) and (entry.step or 1) < 0 for entry in index)


def _part(x, index):
    """`x[index]`, with an index of NumPy's kind."""
    try:
        if not _has_negative_stride(index):
            return x[index]
        positive, flipped = slice_spec.without_negative_strides(index, x.shape)
        return as_signed(x[positive]).flip(flipped).view(x.dtype)
    except IndexError:
        slice_spec.sliced_shape(index, tuple(x.shape))  # says what is wrong
        raise


@kernel("StridedSlice")
def _(node, env):
    read = _index_reader(node, env, 1)
    if node.inputs[0].dtype.base_dtype is dtypes.variant:
        return lambda x, *bounds: variants.single(x[_with_ellipsis(read(*bounds))])
    if is_text(node):
        # With the ellipsis NumPy gives an array even of a single element.
        return lambda x, *bounds: x[_with_ellipsis(read(*bounds))]
    if any(env.constant(node, i) is None for i in (1, 2, 3)):
        return lambda x, *bounds: _part(x, read(*bounds))
    index = read()
    if _has_negative_stride(index):
        return lambda x, *_: _part(x, index)
    if len(index) == 1 and isinstance(index[0], int):
        position = index[0]
        return lambda x, *_: x[position]
    index = index or ...
    return lambda x, *_: x[index]


def _with_ellipsis(index):
    return index if Ellipsis in index else (*index, ...)


def _write(target, index, value):
    """`target[index] = value`, with an index of NumPy's kind."""
    index, flipped = slice_spec.without_negative_strides(index, target.shape)
    place = target[index or ...]
    if not place.numel():
        return
    _check_same_shape(place.shape, value.shape)
    if value.untyped_storage().data_ptr() == place.untyped_storage().data_ptr():
        value = value.clone()  # another part of the same buffer, which may overlap
    place.copy_(as_signed(value).flip(flipped).view(value.dtype) if flipped else value)


def _check_same_shape(place, value):
    if place != value:
        raise errors.UnimplementedError(
            None,
            None,
            f"sliced l-value shape {shapes.text(tuple(place))} does not match r-value shape "
            f"{shapes.text(tuple(value))}. Automatic broadcasting not yet implemented.",
        )


@kernel("StridedSliceGrad", fresh=True)
def _(node, env):
    read = _index_reader(node, env, 1)
    known = known_list(node, env, 0)

    def run(shape, begin, end, strides, grad):
        sizes = known if known is not None else shape.tolist()
        index = read(begin, end, strides)
        wanted = slice_spec.sliced_shape(index, tuple(sizes))
        if tuple(grad.shape) != wanted:
            given = shapes.text(tuple(grad.shape))
            message = f"shape of dy was {given} instead of {shapes.text(wanted)}"
            raise errors.InvalidArgumentError(None, None, message)
        result = grad.new_zeros(sizes)
        _write(result, index, grad)
        return result

    return run


@kernel("TensorStridedSliceUpdate", fresh=True)
def _(node, env):
    read = _index_reader(node, env, 1)

    def run(x, begin, end, strides, value):
        result = x.clone()
        _write(result, read(begin, end, strides), value)
        return result

    return run


@kernel("StridedSliceAssign")
def _(node, env):
    assign = _assigner(node, env)

    def run(variable, *inputs):
        assign(variable, *inputs)
        return variable

    return run


@kernel("ResourceStridedSliceAssign")
def _(node, env):
    return _assigner(node, env)


def _assigner(node, env):
    read = _index_reader(node, env, 1)
    text = is_text(node, 4)

    def assign(variable, begin, end, strides, value):
        index = read(begin, end, strides)
        target = variable.read()
        if text:
            place = target[_with_ellipsis(index)]
            _check_same_shape(place.shape, value.shape)
            place[...] = value
        else:
            slice_spec.sliced_shape(index, tuple(target.shape))  # refuses positions outside of it
            _write(target, index, value)

    return assign
