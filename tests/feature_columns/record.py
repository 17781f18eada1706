"""Records what TensorFlow makes of the scenarios.

Run it with a Python that has TensorFlow 1.15:
    python tests/feature_columns/record.py
"""

from __future__ import annotations

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from scenarios import SCENARIOS, results

HERE = pathlib.Path(__file__).resolve().parent


def main() -> None:
    import tensorflow as tf

    found = {name: results(tf, build) for name, build in SCENARIOS.items()}
    (HERE / "recorded.json").write_text(json.dumps(found, indent=0) + "\n")


if __name__ == "__main__":
    main()
