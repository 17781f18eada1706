"""Errors for what a checkpoint does not have: they name what is near."""

from __future__ import annotations

import difflib
import glob
import re
from collections.abc import Sequence

from penstock import errors

_DATA_FILE = re.compile(r"\.(data-\d{5}-of-\d{5}|index|meta)$")


def key_not_found(name: str, prefix: str, names: Sequence[str]) -> errors.NotFoundError:
    """The error for a tensor that isn't in a checkpoint."""
    near = difflib.get_close_matches(name, names, n=3)
    hint = f" (nearest names in it: {', '.join(near)})" if near else f" (it has {len(names)} keys)"
    return errors.NotFoundError(None, None, f"Key {name} not found in checkpoint {prefix}{hint}")


def checkpoint_not_found(prefix: str) -> errors.NotFoundError:
    """The error for a path at which there is no checkpoint."""
    message = (
        "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
        f"{prefix}"
    )
    others = sorted(glob.glob(f"{glob.escape(prefix)}*.index"))[:3]
    if others:
        found = ", ".join(path.removesuffix(".index") for path in others)
        message += f" (checkpoints with that start: {found})"
    return errors.NotFoundError(None, None, message)


def path_of_one_file(prefix: str) -> str | None:
    """What is wrong with a path that names one file of a V2 checkpoint; None if it doesn't."""
    match = _DATA_FILE.search(prefix)
    if match is None:
        return None
    return (
        f"{prefix} is one of the files of a checkpoint: give the prefix that they share, "
        f"{prefix[: match.start()]}, without '{match[0]}'"
    )
