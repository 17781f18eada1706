"""`tensorflow_estimator.python.estimator.gc`: which of the exported models to keep.

A filter is a function from a list of paths to those of them that it keeps.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from penstock import gfile
from penstock.platform.compat import as_str_any


class Path(NamedTuple):
    """The directory of an export, and its number."""

    path: str
    export_version: int | None


Filter = Callable[[list[Path]], list[Path]]


def _version(path: Path) -> int:
    assert path.export_version is not None
    return path.export_version


def _largest_export_versions(n: int) -> Filter:
    """Keeps the exports with the n largest numbers."""

    def keep(paths: list[Path]) -> list[Path]:
        numbered = [path for path in paths if path.export_version is not None]
        return sorted(sorted(numbered, key=_version)[max(len(numbered) - n, 0) :])

    return keep


def _one_of_every_n_export_versions(n: int) -> Filter:
    """Keeps the export with the largest number of each interval [0, n], (n, 2n], …"""

    def keep(paths: list[Path]) -> list[Path]:
        numbered = [path for path in paths if path.export_version is not None]
        by_interval = {
            max(_version(path) - 1, 0) // n: path for path in sorted(numbered, key=_version)
        }
        return sorted(by_interval.values())

    return keep


def _mod_export_version(n: int) -> Filter:
    """Keeps exports whose number is a multiple of n."""
    return lambda paths: sorted(path for path in paths if _version(path) % n == 0)


def _union(lf: Filter, rf: Filter) -> Filter:
    """Keeps what either filter keeps."""
    return lambda paths: sorted({*lf(paths), *rf(paths)})


def _negation(f: Filter) -> Filter:
    """Keeps what a filter drops."""
    return lambda paths: sorted(set(paths) - set(f(paths)))


def _get_paths(base_dir: Any, parser: Callable[[Path], Path | None]) -> list[Path]:
    """The entries of a directory to which a parser gives a number; it leaves out others."""
    entries = (as_str_any(entry).rstrip("/") for entry in gfile.ListDirectory(base_dir))
    parsed = (parser(Path(os.path.join(as_str_any(base_dir), entry), None)) for entry in entries)
    return sorted(path for path in parsed if path)
