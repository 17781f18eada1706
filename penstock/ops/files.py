"""Whole files, read and written by name."""

from __future__ import annotations

from typing import Any

from penstock.ir.operation import Operation
from penstock.ir.registry import STATEFUL, op
from penstock.ir.tensor import Tensor
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape

__all__ = ["matching_files", "read_file", "write_file"]

ReadFile = op("ReadFile(filename: string) -> contents: string")
WriteFile = op("WriteFile(filename: string, contents: string)", STATEFUL)
MatchingFiles = op("MatchingFiles(pattern: string) -> filenames: string")


@ReadFile.shape
def _(op: Operation, filename: Shape) -> Shape:
    with_rank(filename, 0)
    return ()


@WriteFile.shape
def _(op: Operation, filename: Shape, contents: Shape) -> list[Shape]:
    with_rank(filename, 0)
    with_rank(contents, 0)
    return []


@MatchingFiles.shape
def _(op: Operation, pattern: Shape) -> Shape:
    if pattern is not None and len(pattern) > 1:
        raise ValueError(f"Shape must be at most rank 1 but is rank {len(pattern)}")
    return (None,)


def read_file(filename: Any, name: str | None = None) -> Tensor:
    """The contents of a file."""
    return ReadFile(filename, name=name)


def write_file(filename: Any, contents: Any, name: str | None = None) -> Operation:
    """Writes a file, and makes the directories above it where they are missing."""
    return WriteFile(filename, contents, name=name)


def matching_files(pattern: Any, name: str | None = None) -> Tensor:
    """The sorted names of the files that match a pattern, or one of several, with wildcards."""
    return MatchingFiles(pattern, name=name)
