"""Runs the programs in real TensorFlow and records what they return.

python tests/programs/record.py        # with a Python that has TensorFlow 1.15
"""

from __future__ import annotations

import builtins
import importlib
import json
import os
import sys
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

_zip = zip
if sys.version_info < (3, 10):  # noqa: UP036 (TensorFlow 1.15's zip has no `strict`)
    builtins.zip = lambda *columns, strict=False: _zip(*columns)


def main() -> None:
    import tensorflow.compat.v1 as tf

    from tests.programs import plain, programs

    tf.disable_v2_behavior()
    for name in programs():
        with tf.Graph().as_default():
            results = importlib.import_module(f"tests.programs.{name}").main(tf)
        text = json.dumps(plain(results), indent=1)
        (HERE / "recorded" / f"{name}.json").write_text(text + "\n")
        print(name)


if __name__ == "__main__":
    main()
