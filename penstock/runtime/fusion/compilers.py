"""The compiler of this machine, and how it is run beside steps."""

from __future__ import annotations

import shutil


def compiler() -> str | None:
    """The path of a C++ compiler; None where there is none."""
    found = (shutil.which(name) for name in ("g++", "clang++", "c++"))
    return next((path for path in found if path is not None), None)


def with_low_priority(command: list[str]) -> list[str]:
    """A command that runs when nobody else wants the processor."""
    found = shutil.which("nice")
    return [found, "-n", "19", *command] if found else command
