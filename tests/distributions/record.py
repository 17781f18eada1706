"""Records what real TensorFlow says of distributions.

Run it with a Python that has TensorFlow 2.21: `python tests/distributions/record.py`.
"""

import json
import os
import sys
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import tensorflow.compat.v1 as tf

from tests.distributions.observations import observe

if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.disable_v2_behavior()
    Path(__file__).with_name("recorded.json").write_text(json.dumps(observe(tf), indent=0) + "\n")
