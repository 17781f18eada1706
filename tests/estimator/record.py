"""Records what TensorFlow's canned estimators learn.

Run it with a Python that has TensorFlow 1.15:
    python tests/estimator/record.py
"""

from __future__ import annotations

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from models import models, results

HERE = pathlib.Path(__file__).resolve().parent


def main() -> None:
    import tensorflow as tf

    found = {name: results(tf, tf.estimator, name) for name in models(tf, tf.estimator)}
    (HERE / "recorded.json").write_text(json.dumps(found, indent=0) + "\n")


if __name__ == "__main__":
    main()
