"""The op cases, one file per op family; each has a list `CASES`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from tests.ops.case import Case, number, restart_draws


def families() -> list[str]:
    """The names of the families, in alphabetical order."""
    here = Path(__file__).parent
    return sorted(path.stem for path in here.glob("*.py") if path.stem != "__init__")


@cache
def cases_of(family: str) -> list[Case]:
    """The cases of a family, with their ids."""
    restart_draws()
    cases: list[Case] = import_module(f"{__name__}.{family}").CASES
    number(cases)
    return cases
