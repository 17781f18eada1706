"""Records what TensorFlow makes of the scenarios of tf.contrib.layers' feature columns.

Run it with a Python that has tensorflow 1.15:
    python tests/contrib/record_columns.py
"""

from __future__ import annotations

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from column_scenarios import SCENARIOS
from outlying_results import results

FOLDER = pathlib.Path(__file__).resolve().parent / "recorded"


def main() -> None:
    import tensorflow as tf

    recorded = {name: results(tf, build) for name, build in SCENARIOS.items()}
    lines = [f"{json.dumps(name)}: {json.dumps(found)}" for name, found in recorded.items()]
    (FOLDER / "columns.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
