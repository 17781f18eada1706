"""Successive runs of seeded random operations in one session, as real TensorFlow draws them.

The numbers of a long draw are too many to keep: of those a digest or every so-manieth is stored.
Run as a program with a Python that has TensorFlow 2.21, this records them.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.ops import drive
from tests.ops.case import Case, array, f32
from tests.ops.drive import Library, Mode

FILE = Path(__file__).parent / "recorded" / "runs" / "random.npz"
RUNS = 3
LONG = 2**20 + 3
STRIDE = 10007  # between the numbers of a long draw that are stored

SEEDS = {"seed": 87654321, "seed2": 12}
FLOATING = ("float32", "float64", "float16", "bfloat16")


def _sizes(*sizes: int) -> np.ndarray:
    return array(list(sizes), "int32")


def cases() -> Iterator[Case]:
    """The operations, each with an id."""
    for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
        for dtype in FLOATING:
            for size in (7, 259, LONG):
                yield _named(f"{op} {dtype} {size}", op, (_sizes(size),), {"dtype": dtype, **SEEDS})
    for dtype in ("int32", "int64"):
        bounds = (array(-7, dtype), array(1000, dtype))
        for size in (9, LONG):
            name = f"RandomUniformInt {dtype} {size}"
            yield _named(name, "RandomUniformInt", (_sizes(size), *bounds), SEEDS)
    for size in (2, 5, 17, 300):
        yield _named(f"RandomShuffle {size}", "RandomShuffle", (np.arange(size),), SEEDS)
    for samples in (1, 3, 6):
        inputs = (f32(4, 5), array(samples, "int32"))
        yield _named(f"Multinomial {samples}", "Multinomial", inputs, SEEDS)
    alphas = array([0.3, 1, 40], "float64")
    yield _named("RandomGamma", "RandomGamma", (_sizes(5), alphas), SEEDS)
    rates = array([0.5, 9.5, 40], "float64")
    yield _named(
        "RandomPoissonV2", "RandomPoissonV2", (_sizes(5), rates), {"dtype": "int64", **SEEDS}
    )
    bounded = tuple(array(value, "float64") for value in (0, 1, 0.5, 3))
    name = "ParameterizedTruncatedNormal"
    for size in (9, 250):
        yield _named(f"{name} {size}", name, (_sizes(size), *bounded), SEEDS)


def _named(name: str, op: str, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Case:
    case = Case(op, inputs, attrs, name)
    case.id = name
    return case


def draw(library: Library, case: Case) -> list[np.ndarray]:
    """What the runs of a new session draw."""
    graph = drive.build(library, case, Mode.CONSTANTS)
    with library.tf.Session(graph=graph.graph, config=library.config) as session:
        return [np.asarray(session.run(graph.op.outputs[0])) for _ in range(RUNS)]


def kept(values: np.ndarray) -> np.ndarray:
    """What is stored of a draw: every number, or every so-manieth; bfloat16 by its bits."""
    flat = values.reshape(-1)[:: 1 if values.size < LONG else STRIDE]
    return flat.view(np.uint16) if values.dtype.name == "bfloat16" else flat


def digest(values: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()


def recorded() -> tuple[dict[str, np.ndarray], dict[str, list[str]]]:
    """For each operation what is kept of its runs, and their digests."""
    with np.load(FILE) as file:
        values = dict(file)
    digests: dict[str, list[str]] = json.loads(str(values.pop("digests")))
    return values, digests


def main() -> None:
    from tests.ops.record import _tensorflow

    library = _tensorflow()
    found: dict[str, np.ndarray] = {}
    digests: dict[str, list[str]] = {}
    for case in cases():
        draws = draw(library, case)
        found[case.id] = np.stack([kept(values) for values in draws])
        digests[case.id] = [digest(values) for values in draws]
    FILE.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(FILE, **found, digests=np.array(json.dumps(digests)))
    print(f"{len(found)} operations recorded")


if __name__ == "__main__":
    main()
