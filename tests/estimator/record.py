"""Records what TensorFlow's canned estimators learn.

Run it with a Python that has tensorflow, tf_keras and tensorflow_estimator:
    python tests/estimator/record.py
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
import types
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from models import models, results

HERE = pathlib.Path(__file__).resolve().parent


def tensorflow_with_estimators() -> tuple[Any, Any]:
    """TensorFlow and its estimators, which need names that TensorFlow has dropped since."""
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    import tensorflow.compat.v1 as tf
    import tensorflow.python.distribute as distribute

    tf.disable_v2_behavior()
    training = types.ModuleType("tensorflow.python.distribute.estimator_training")
    training.should_run_distribute_coordinator = lambda config: False
    sys.modules[training.__name__] = distribute.estimator_training = training
    export = types.ModuleType("tensorflow_estimator.python.estimator.estimator_export")
    export.estimator_export = lambda *names, **kwargs: lambda symbol: symbol
    sys.modules[export.__name__] = export
    for name in ("tpu", "tpu.experimental"):
        name = f"tensorflow_estimator._api.v1.estimator.{name}"
        sys.modules[name] = types.ModuleType(name)
    import tensorflow_estimator._api.v1.estimator as estimators

    return tf, estimators


def main() -> None:
    tf, est = tensorflow_with_estimators()
    found = {name: results(tf, est, name) for name in models(tf, est)}
    (HERE / "recorded.json").write_text(json.dumps(found, indent=0) + "\n")


if __name__ == "__main__":
    main()
