"""Records what TensorFlow 1.15's Keras makes of layers.

TF_ENV/bin/python tests/keras/record_layers.py

TF_ENV has tensorflow==1.15.5, outside of the repo.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
FOLDER = Path(__file__).parent / "recorded"


def main():
    import tensorflow as tf

    sys.path.insert(0, str(Path(__file__).parent))
    import layer_cases

    arrays, facts = layer_cases.values(tf)
    np.savez_compressed(FOLDER / "layers.npz", **arrays)
    (FOLDER / "layers.json").write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
