"""Runs the op cases in real TensorFlow and records what it computes, for the tests to compare.

Run it with a Python that has TensorFlow 2.21 and NumPy 2, from anywhere:

    python tests/ops/record.py              # every family
    python tests/ops/record.py math nn      # some
    python tests/ops/record.py --check      # says what a new recording would change

A case that TensorFlow refuses must say so (`fails=True`); otherwise nothing is written.
"""

from __future__ import annotations

import argparse
import gzip
import inspect
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# Plain kernels: the same bits on every processor, and each op computes in its own type.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
import tensorflow.compat.v1 as tf

from tests.ops import drive, records
from tests.ops.case import Case
from tests.ops.cases import cases_of, families
from tests.ops.drive import Graph, Library, Mode
from tests.ops.records import Built, Record

TABLE = Path(__file__).resolve().parents[1] / "data" / "opdefs.json.gz"


def _tensorflow() -> Library:
    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.disable_v2_behavior()
    with gzip.open(TABLE, "rt", encoding="utf-8") as file:
        table = json.load(file)

    def apply(op: str, inputs: Any, attrs: dict[str, Any], name: str | None) -> Any:
        given = {arg["name"]: v for arg, v in zip(table[op]["inputs"], inputs, strict=True)}
        for key, value in attrs.items():
            is_tensor = isinstance(value, np.ndarray)
            given[key] = tf.make_tensor_proto(value) if is_tensor else value
        function = getattr(tf.raw_ops, op)
        return function(**_python_names(function, table[op], given), name=name)

    # The graph runs as it is written: no optimizer, one thread.
    config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    config.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return Library(tf, apply, config)


def _python_names(function: Any, signature: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments under the names that Python has for them: a few ops' own names differ."""
    own = [entry["name"] for entry in (*signature["inputs"], *signature["attrs"])]
    python = [name for name in inspect.signature(function).parameters if name != "name"]
    strange = [name for name in own if name in given and name not in python]
    renamed = dict(zip(strange, (name for name in python if name not in own), strict=False))
    return {renamed.get(name, name): value for name, value in given.items()}


class Mistake(Exception):
    """The case itself is wrong."""


def record(library: Library, case: Case, *, verbose: bool = False) -> Record:
    """What TensorFlow makes of a case."""
    result = Record(case.digest())
    failures: dict[Mode, Exception] = {}
    values: dict[Mode, drive.Result] = {}
    for mode in Mode:
        try:
            graph = drive.build(library, case, mode)
            result.modes[mode.value] = Built(graph.static_shapes())
            if mode is not Mode.SHAPED and case.expected is None:
                values[mode] = drive.run(library, case, graph)
        except Exception as error:
            failures[mode] = error
            result.modes[mode.value] = Built(error=type(error).__name__)
            if verbose:
                print(f"  {mode.value}: {_brief(error)}")
    _check(case, failures, values)
    if Mode.CONSTANTS in values:
        result.outputs = values[Mode.CONSTANTS].outputs
        result.variables = values[Mode.CONSTANTS].variables
        if case.shape_only:
            result.outputs = [_blank(value) for value in result.outputs]
            result.variables = [_blank(value) for value in result.variables]
        _record_gradients(library, case, result)
    return result


def _brief(error: Exception) -> str:
    text = " ".join(str(error).split())
    told = text.partition(f"Node: '{drive.NODE}' ")[
        2
    ]  # a failing step tells first where it was made
    return f"{type(error).__name__}: {(told or text)[:300]}"


def _blank(value: np.ndarray | None) -> np.ndarray | None:
    """The shape and type of a value that is another in every run."""
    return None if value is None else np.zeros(value.shape, value.dtype)


def _check(case: Case, failures: dict[Mode, Exception], values: dict[Mode, drive.Result]) -> None:
    if case.fails:
        if not failures:
            raise Mistake("TensorFlow accepts it, but it has fails=True")
        return
    if Mode.CONSTANTS in failures and case.expected is None:
        raise Mistake(f"TensorFlow refuses it: {_brief(failures[Mode.CONSTANTS])}")
    if case.shape_only or len(values) < 2:
        return
    one, other = values[Mode.CONSTANTS], values[Mode.FED]
    pairs = zip(one.outputs + one.variables, other.outputs + other.variables, strict=True)
    if not all(_same(a, b) for a, b in pairs):
        raise Mistake("TensorFlow computes something else in every run: use shape_only=True")


def _same(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    if a is None or b is None:
        return a is b
    if a.dtype == object:
        return a.tolist() == b.tolist()
    return a.tobytes() == b.tobytes()


def _record_gradients(library: Library, case: Case, result: Record) -> None:
    if not case.differentiated():
        return
    graph = drive.build(library, case, Mode.CONSTANTS)
    if not drive.differentiable_outputs(case, graph.op):
        return
    try:
        result.gradients = drive.gradients(library, case, graph, result.outputs)
    except LookupError:  # the op has no gradient
        if case.grad is not None:
            raise Mistake("TensorFlow has no gradient for it, but it has grad=...") from None
        return
    result.gradients_fed = _has_gradients_fed(library, case, result)


def _has_gradients_fed(library: Library, case: Case, result: Record) -> bool:
    """Whether TensorFlow can differentiate the op without knowing a shape."""
    try:
        graph: Graph = drive.build(library, case, Mode.FED)
        drive.gradients(library, case, graph, result.outputs)
    except Exception:
        return False
    return True


def record_family(
    library: Library, family: str, *, verbose: bool = False
) -> tuple[dict[str, Record], list[str]]:
    """The records of a family's cases, and what is wrong with those that have none."""
    found: dict[str, Record] = {}
    wrong: list[str] = []
    for case in cases_of(family):
        if verbose:
            print(f"{family}/{case.id}", flush=True)
        try:
            found[case.id] = record(library, case, verbose=verbose)
        except Exception as error:
            reason = (
                str(error) if isinstance(error, Mistake) else f"{type(error).__name__}: {error}"
            )
            wrong.append(f"{family}/{case.id}: {reason}")
    return found, wrong


def _stale(family: str) -> list[str]:
    stale = []
    for case in cases_of(family):
        try:
            records.find(family, case)
        except records.StaleRecord as error:
            stale.append(f"{family}: {error}")
    extra = records.ids(family) - {case.id for case in cases_of(family)}
    return stale + [f"{family}: {key} is recorded, but no case" for key in sorted(extra)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=", ".join(families()))
    parser.add_argument("--check", action="store_true", help="record nothing, list what is stale")
    parser.add_argument("-v", "--verbose", action="store_true", help="name cases, show errors")
    options = parser.parse_args()
    chosen = options.families or families()
    if unknown := set(chosen) - set(families()):
        parser.error(f"no family {', '.join(sorted(unknown))} (families: {', '.join(families())})")
    if options.check:
        stale = [line for family in chosen for line in _stale(family)]
        print("\n".join(stale) or "every case has its record")
        return bool(stale)
    library = _tensorflow()
    failed = False
    for family in chosen:
        start = time.perf_counter()
        found, wrong = record_family(library, family, verbose=options.verbose)
        if wrong:
            failed = True
            print(f"{family}: not written:", *wrong, sep="\n  ")
            continue
        records.write(records.FOLDER / f"{family}.npz", found)
        refused = sum(any(mode.error for mode in entry.modes.values()) for entry in found.values())
        with_gradient = sum(entry.gradients is not None for entry in found.values())
        print(
            f"{family}: {len(found)} cases, {with_gradient} with gradients, {refused} refused, "
            f"{time.perf_counter() - start:.1f} s"
        )
    return failed


if __name__ == "__main__":
    sys.exit(main())
