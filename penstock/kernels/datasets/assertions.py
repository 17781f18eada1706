"""`assert_next`: which transformations of a pipeline are behind a place in it.

TensorFlow looks at the pipeline that its rewritings have left. Pipelines are not rewritten here, so
that only those can be looked at for which no rewriting was asked.
"""

from __future__ import annotations

import re

from penstock.kernels.datasets.recipes import dataset_kernel
from penstock.kernels.sparse_rows import invalid
from penstock.state.datasets import Dataset, DerivedDataset, same_number

_ASSERTIONS = ("AssertNextDataset", "ExperimentalAssertNextDataset")
_NOT_ITERATED = {"AutoShardDataset", "OptimizeDataset", "OptionsDataset"}
_NUMBERED = {"ConcatenateDataset", "DirectedInterleaveDataset", "ZipDataset"}
_BY_COUNT = {"RepeatDataset": "Repeat", "TakeDataset": "Take", "SkipDataset": "Skip"}


@dataset_kernel(*_ASSERTIONS)
def _(node):
    return lambda source, names: DerivedDataset(source, lambda elements, _: elements, same_number)


def check_assertions(dataset: Dataset, behind: tuple[str, ...] = ()) -> None:
    """Raises where an assertion in a pipeline does not hold; `behind` it are these parts."""
    if dataset.recipe is None:
        return
    node, inputs, _ = dataset.recipe
    if node.type == "OptimizeDataset" and inputs[1].size:
        return
    if node.type in _ASSERTIONS:
        _check([name.decode() for name in inputs[1].reshape(-1)], behind)
    first = 1 if node.type.removeprefix("Experimental") == "DirectedInterleaveDataset" else 0
    for number, each in enumerate(inputs[first:]):
        if isinstance(each, Dataset):
            name = _name(node, inputs, number)
            check_assertions(each, behind if name is None else (name, *behind))


def _check(expected: list[str], behind: tuple[str, ...]) -> None:
    if len(expected) > len(behind):
        raise invalid(
            f"Asserted next {len(expected)} transformations but encountered only {len(behind)}."
        )
    for offset, (name, found) in enumerate(zip(expected, behind, strict=False)):
        if name != found:
            raise invalid(
                f"Asserted {name} transformation at offset {offset} but encountered {found} "
                "transformation instead."
            )


def _name(node, inputs, number: int) -> str | None:
    """What TensorFlow calls the part of a pipeline that reads input `number`, if it is one."""
    kind = node.type.removeprefix("Experimental")
    if kind in _NOT_ITERATED:
        return None
    if kind == "CacheDataset":
        return "FileCacheImpl" if inputs[1].item() else "MemoryCacheImpl"
    if kind in _BY_COUNT:
        forever = kind == "RepeatDataset" and int(inputs[1]) < 0
        return ("Forever" if forever else "Finite") + _BY_COUNT[kind]
    if kind in _NUMBERED:
        return f"{kind.removesuffix('Dataset')}[{number}]"
    if kind == "LegacyParallelInterleaveDatasetV2":
        return "ParallelInterleave"
    return re.sub(r"Dataset(V\d)?$", r"\1", kind)
