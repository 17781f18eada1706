"""Records what TensorFlow makes of the programs with loops and branches, and of the RNN cells.

Run it with a Python that has TensorFlow 1.15:
    python tests/control_flow_conformance/record_programs.py
"""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

from cell_scenarios import CELLS, cell_results  # noqa: E402
from loop_programs import PROGRAMS  # noqa: E402
from program_results import results  # noqa: E402


def _rounded(value: Any) -> Any:
    """Numbers with the digits that single precision has."""
    if isinstance(value, float):
        return float(f"{value:.7g}")
    if isinstance(value, (list, tuple)):
        return [_rounded(each) for each in value]
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return value


def main() -> None:
    import tensorflow as tf
    from tensorflow.contrib.rnn.python.ops import rnn_cell

    programs = {name: results(tf, build) for name, build in PROGRAMS.items()}
    cells = {name: cell_results(tf, rnn_cell, name) for name in CELLS}
    for name, found in (("programs", programs), ("cells", cells)):
        path = FOLDER / "recorded" / f"{name}.json"
        path.write_text(json.dumps(_rounded(found), indent=0) + "\n")


if __name__ == "__main__":
    main()
