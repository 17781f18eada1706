"""The reading half, run by a Python that has TensorFlow: `-m tensorflow_reads MODULE FOLDER`."""

from __future__ import annotations

import importlib
import sys


def main(module: str, folder: str) -> None:
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    for name, reader in importlib.import_module(f"tensorflow_reads.{module}").READERS.items():
        try:
            print(f"ok      {name}: {reader(tf, folder)}")
        except Exception as error:
            print(f"FAILED  {name}: {type(error).__name__}: {error}".replace("\n", " "))


main(*sys.argv[1:])
