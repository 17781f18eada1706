"""Whole programs, as users write them: each module's `main(tf)` trains and returns numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np


def programs() -> list[str]:
    here = Path(__file__).parent
    others = {"__init__", "record", "test_programs"}
    return sorted({path.stem for path in here.glob("*.py")} - others)


def plain(value: Any) -> Any:
    """Results in the words of JSON."""
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    return value.item() if isinstance(value, np.generic) else value
