"""Records what TensorFlow makes of the scenarios and networks.

Run it with a Python that has TensorFlow 1.15:
    python tests/contrib/record_slim.py
"""

from __future__ import annotations

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from networks import NETWORKS, variables_of
from slim_results import results
from slim_scenarios import SCENARIOS

FOLDER = pathlib.Path(__file__).resolve().parent / "recorded"


def main() -> None:
    import tensorflow as tf
    from tensorflow.contrib import slim
    from tensorflow.contrib.slim.python.slim import nets

    scenarios = {name: results(tf, slim, build) for name, build in SCENARIOS.items()}
    networks = {name: variables_of(tf, slim, nets, name) for name in NETWORKS}
    FOLDER.mkdir(exist_ok=True)
    for name, found in (("slim", scenarios), ("networks", networks)):
        (FOLDER / f"{name}.json").write_text(json.dumps(found, indent=0) + "\n")


if __name__ == "__main__":
    main()
