"""Which exports are kept: functions from a list of paths to those that are."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from penstock.platform import file_io


class Path(NamedTuple):
    """An export, and its version if it has one."""

    path: str
    export_version: int | None


Keep = Callable[[list[Path]], list[Path]]


def _versions(paths: list[Path]) -> list[tuple[int, Path]]:
    return [(path.export_version, path) for path in paths if path.export_version is not None]


def largest_export_versions(n: int) -> Keep:
    """Keeps the n latest."""
    return lambda paths: sorted(path for _, path in sorted(_versions(paths))[::-1][:n])


def one_of_every_n_export_versions(n: int) -> Keep:
    """Keeps the latest of the versions [0, n], the latest of (n, 2n], and so on."""

    def keep(paths: list[Path]) -> list[Path]:
        latest = {max(version - 1, 0) // n: path for version, path in sorted(_versions(paths))}
        return sorted(latest.values())

    return keep


def mod_export_version(n: int) -> Keep:
    """Keeps the versions that n divides."""
    return lambda paths: sorted(path for version, path in _versions(paths) if version % n == 0)


def union(lf: Keep, rf: Keep) -> Keep:
    """Keeps what one of two functions keeps."""
    return lambda paths: sorted({*lf(paths), *rf(paths)})


def negation(f: Keep) -> Keep:
    """Keeps what a function does not keep."""
    return lambda paths: sorted(set(paths) - set(f(paths)))


def get_paths(base_dir: str, parser: Callable[[Path], Path | None]) -> list[Path]:
    """The entries of a directory, each with the version that `parser` finds; None leaves it out."""
    names = file_io.list_directory(base_dir)
    parsed = (parser(Path(os.path.join(base_dir, name), None)) for name in names)
    return sorted(path for path in parsed if path is not None)
