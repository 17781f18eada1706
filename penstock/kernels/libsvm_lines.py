"""The kernel that reads LIBSVM's lines."""

import numpy as np

from penstock import dtypes
from penstock.errors import InvalidArgumentError
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.string_numbers import integer_parser, number_parser
from penstock.kernels.values import from_array

_parse_index = integer_parser(dtypes.int64)


def _invalid(message):
    return InvalidArgumentError(None, None, message)


def _text(string):
    return string.decode(errors="backslashreplace")


def _number(parse, string, error):
    try:
        if string[:1] in (b"", b"+"):
            raise ValueError(string)
        return parse(string)
    except ValueError:
        raise _invalid(error) from None


def _feature(parse, part):
    index, colon, value = part.partition(b":")
    if not colon:
        raise _invalid(f'Invalid feature "{_text(part)}"')
    error = f"Feature format incorrect: {_text(part)}"
    place = _number(_parse_index, index, error)
    if place < 0:
        raise _invalid(f"Feature index should be >= 0, got {place}")
    return place, _number(parse, value, error)


@kernel("DecodeLibsvm", devices=HOST, fresh=True)
def _(node):
    value_type, label_type = node.attrs["dtype"], node.attrs["label_dtype"]
    parse_value, parse_label = number_parser(value_type), number_parser(label_type)
    features = node.attrs["num_features"]

    def run(lines):
        labels, indices, values = [], [], []
        for count, (place, line) in enumerate(np.ndenumerate(lines)):
            label, *parts = line.split() or [b""]
            if not label:
                raise _invalid(f'No label found for input[{count}]: "{_text(line)}"')
            labels.append(_number(parse_label, label, f"Label format incorrect: {_text(label)}"))
            for part in parts:
                feature, value = _feature(parse_value, part)
                indices.append((*place, feature))
                values.append(value)
        axes = lines.ndim + 1
        return (
            from_array(np.array(labels, label_type.as_numpy_dtype).reshape(lines.shape)),
            from_array(np.array(indices, np.int64).reshape(-1, axes)),
            from_array(np.array(values, value_type.as_numpy_dtype)),
            from_array(np.array([*lines.shape, features], np.int64)),
        )

    return run
