"""Records the signatures of ops that TensorFlow 1.15 has and later releases have not.

    python tests/ops/record_old_opdefs.py     in an environment with TensorFlow 1.15

Writes tests/data/opdefs_1_15.json, in the form of the table of all other ops.
"""

import gzip
import json
from pathlib import Path

import tensorflow as tf
from tensorflow.python.framework import op_def_registry
from tensorflow.python.ops import gen_tpu_ops  # noqa: F401  registers its ops

DATA = Path(__file__).resolve().parents[1] / "data"


def _arg(arg):
    return {"name": arg.name, "type": tf.as_dtype(arg.type).name}


def _attr(attr):
    described = {"name": attr.name, "type": attr.type}
    if attr.HasField("default_value"):
        described["has_default"] = True
        value = attr.default_value
        described["default"] = value.i if attr.type == "int" else value.s.decode()
    return described


def main():
    with gzip.open(str(DATA / "opdefs.json.gz"), "rt") as file:
        known = json.load(file)
    found = {}
    for name, definition in sorted(op_def_registry.get_registered_ops().items()):
        if name in known or not hasattr(tf.raw_ops, name):
            continue
        found[name] = {
            "attrs": [_attr(attr) for attr in definition.attr],
            "inputs": [_arg(arg) for arg in definition.input_arg],
            "outputs": [_arg(arg) for arg in definition.output_arg],
            "is_stateful": definition.is_stateful,
        }
    recorded = {"tensorflow": tf.__version__, "ops": found}
    with open(str(DATA / "opdefs_1_15.json"), "w") as file:
        json.dump(recorded, file, indent=1, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main()
