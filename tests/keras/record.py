"""Records what TensorFlow's Keras makes of the cases: TF_ENV/bin/python tests/keras/record.py

TF_ENV has tensorflow-cpu==2.21.0, tf_keras==2.21.0 and h5py, outside of the repo.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
FOLDER = Path(__file__).parent / "recorded"


def main():
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    sys.path.insert(0, str(Path(__file__).parent))
    import cases
    import function_cases

    FOLDER.mkdir(exist_ok=True)
    arrays, facts = {}, {}
    for name, make in cases.CASES.items():
        tf.keras.backend.clear_session()
        model, x, y = make(tf)
        results = cases.trained(model, x, y)
        arrays.update({f"{name}/{key}": value for key, value in cases.flat(results).items()})
        facts[name] = {
            "weights": [[weight.name, weight.shape.as_list()] for weight in model.weights],
            "layers": [layer.name for layer in model.layers],
            "outputs": [output.shape.as_list() for output in model.outputs],
            "metrics": model.metrics_names,
        }
        if name in ("dense", "convolutional", "lstm", "functional"):
            model.save(str(FOLDER / f"{name}.h5"))
    np.savez_compressed(FOLDER / "trained.npz", **arrays)
    np.savez_compressed(FOLDER / "functions.npz", **function_cases.values(tf))
    (FOLDER / "facts.json").write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
