"""`tensorflow.python.util.example_parser_configuration`: what a ParseExample node reads."""

from __future__ import annotations

from typing import Any

from penstock.ops.tensor_values import make_tensor_proto
from penstock.proto import ExampleParserConfiguration
from penstock.shapes import TensorShape


def _checked(op: Any, attr: str, count: int, counted: str) -> list[Any]:
    values = list(op.get_attr(attr))
    if len(values) != count:
        raise ValueError(
            f"len({attr}) attribute does not match {counted} attribute ({len(values)} vs {count})"
        )
    return values


def extract_example_parser_configuration(parse_example_op: Any, sess: Any) -> Any:
    """An ExampleParserConfiguration of a ParseExample operation.

    Args:
      parse_example_op: the operation.
      sess: a session of its graph, which evaluates keys and defaults.
    """
    num_sparse = parse_example_op.get_attr("Nsparse")
    num_dense = parse_example_op.get_attr("Ndense")
    sparse_types = _checked(parse_example_op, "sparse_types", num_sparse, "Nsparse")
    dense_types = _checked(parse_example_op, "Tdense", num_dense, "Ndense")
    dense_shapes = _checked(parse_example_op, "dense_shapes", num_dense, "Ndense")

    fetches = list(parse_example_op.inputs)[2:]  # behind the examples and their names
    expected = num_sparse + 2 * num_dense
    if len(fetches) != expected:
        raise ValueError(
            "len(fetch_list) does not match total features + num_dense "
            f"({len(fetches)} vs {expected})"
        )
    fetched = sess.run(fetches)
    sparse_keys, dense_keys = fetched[:num_sparse], fetched[num_sparse : num_sparse + num_dense]
    defaults = fetched[num_sparse + num_dense :]
    names = [output.name for output in parse_example_op.outputs]

    config = ExampleParserConfiguration()
    for index, key in enumerate(dense_keys):
        fixed = config.feature_map[_text(key)].fixed_len_feature
        fixed.default_value.CopyFrom(make_tensor_proto(defaults[index]))
        fixed.shape.CopyFrom(TensorShape(dense_shapes[index]).as_proto())
        fixed.dtype = dense_types[index].as_datatype_enum
        fixed.values_output_tensor_name = names[3 * num_sparse + index]
    for index, key in enumerate(sparse_keys):
        varying = config.feature_map[_text(key)].var_len_feature
        varying.dtype = sparse_types[index].as_datatype_enum
        varying.indices_output_tensor_name = names[index]
        varying.values_output_tensor_name = names[num_sparse + index]
        varying.shapes_output_tensor_name = names[2 * num_sparse + index]
    return config


def _text(key: Any) -> str:
    return key.decode() if isinstance(key, bytes) else str(key)
