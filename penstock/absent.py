"""Names of TensorFlow 1.x that Penstock does not have: why, and what to use.

The reasons are data: the error of a missing name gives them, `penstock doctor` does, and
docs/compatibility.md lists them.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: A symbol, or a namespace with all that is in it, and what to do about it.
REASONS: dict[str, str] = {
    "tf.contrib.eager": "Penstock runs graphs: build one, and run it in a tf.Session.",
    "tf.autograph": "Python code is not converted to graphs: use tf.cond and tf.while_loop.",
    "tf.load_op_library": "Libraries of compiled ops are made for one TensorFlow; write the op as "
    "docs/adding-an-op.md shows, or use tf.py_func.",
    "tf.load_library": "Libraries of compiled ops are made for one TensorFlow.",
    "tf.load_file_system_library": "Files are read through the operating system: mount them.",
    "tf.RaggedTensor": "Use padded tensors with tf.sequence_mask, or tf.SparseTensor.",
    "tf.ragged": "Use padded tensors with tf.sequence_mask, or tf.SparseTensor.",
    "tf.lite": "Export a frozen graph or a SavedModel, and convert it with TensorFlow's own tools.",
    "tf.contrib.lite": "Export a frozen graph or a SavedModel, and convert it with TensorFlow's "
    "own tools.",
    "tf.xla": "Plans are compiled without being asked to.",
    "tf.contrib.compiler": "Plans are compiled without being asked to.",
    "tf.tpu": "There are no TPUs here.",
    "tf.contrib.tpu": "There are no TPUs here: use tf.estimator, or a session on a CPU or GPU.",
    "tf.contrib.cluster_resolver.TPUClusterResolver": "There are no TPUs here.",
    "tf.contrib.tensorrt": "Graphs are optimised for the device at hand without being asked to.",
    "tf.contrib.tensor_forest": "Decision forests are no dataflow graphs: use scikit-learn.",
    "tf.contrib.boosted_trees": "Boosted trees are no dataflow graphs: use XGBoost or LightGBM.",
}

#: What a program asked for and did not get, for a report at its end.
met: set[str] = set()


def reason(symbol: str) -> str | None:
    """Why a symbol is missing and what to use, if the table says so for it or a part above it."""
    parts = symbol.split(".")
    for length in range(len(parts), 0, -1):
        found = REASONS.get(".".join(parts[:length]))
        if found:
            return found
    return None


def error(symbol: str) -> AttributeError:
    """The error for a symbol that is asked for and missing."""
    met.add(symbol)
    advice = reason(symbol) or "docs/compatibility.md lists what is not there."
    return AttributeError(f"penstock has no {symbol}. {advice}")


@contextmanager
def unrecorded() -> Iterator[None]:
    """Looks for names, and does not count those that are missing."""
    before = set(met)
    try:
        yield
    finally:
        met.clear()
        met.update(before)


def watch(module: types.ModuleType, symbol: str) -> None:
    """Lets a namespace explain the names that it lacks, under the name that users know it by."""
    inner = module.__dict__.get("__getattr__")

    def explained(name: str) -> Any:
        if inner is not None:
            try:
                return inner(name)
            except AttributeError as own:
                if own.args != (name,):  # it has something to say itself
                    met.add(f"{symbol}.{name}")
                    raise
        if name.startswith("__"):
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        raise error(f"{symbol}.{name}")

    module.__getattr__ = explained  # type: ignore[method-assign]
