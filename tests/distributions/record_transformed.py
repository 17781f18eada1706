"""Records bijectors and transformed distributions of TensorFlow 1.15.

TF_ENV/bin/python tests/distributions/record_transformed.py

TF_ENV has tensorflow==1.15.5, outside of the repo.
"""

import os
import sys
from pathlib import Path

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def main():
    import tensorflow as tf
    from tensorflow.contrib.distributions.python.ops.bijectors import weibull

    # 1.15 has the file, but no longer the public name.
    tf.contrib.distributions.bijectors.Weibull = weibull.Weibull
    folder = Path(__file__).parent
    sys.path.insert(0, str(folder))
    import transformed_cases

    np.savez_compressed(folder / "transformed.npz", **transformed_cases.values(tf))


if __name__ == "__main__":
    main()
