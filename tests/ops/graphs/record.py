"""Runs the scenarios in real TensorFlow and records the graphs that it builds.

Run it with a Python that has TensorFlow 2.21, and with one that has 1.15 (which leaves out what it
can't build), from anywhere:

    python tests/ops/graphs/record.py                    # every module of scenarios
    python tests/ops/graphs/record.py variables slots    # some
    python tests/ops/graphs/record.py --check            # says what a new recording would change
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import io
import json
import os
import sys
from pathlib import Path
from types import ModuleType

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # tf.layers is a part of it
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import tensorflow as whole
import tensorflow.compat.v1 as tf

from tests.ops.graphs import snapshot

MODULES = sorted({p.stem for p in Path(__file__).parent.glob("*.py")} - {"record", "snapshot"})


RELEASE = whole.__version__.rpartition(".")[0]


def _snapshots(module: ModuleType) -> bytes:
    taken = {}
    for name, scenario in snapshot.scenarios_of(module).items():
        try:
            taken[name] = snapshot.take(tf, scenario)
        except Exception as error:
            if RELEASE != "1.15":
                raise
            print(f"{module.__name__}.{name} is not recorded: {type(error).__name__}: {error}")
    return json.dumps(taken, indent=1).encode()


def _compressed(text: bytes) -> bytes:
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as file:
        file.write(text)
    return buffer.getvalue()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", default=MODULES, metavar="module")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.disable_v2_behavior()
    changed = []
    for name in options.modules:
        module = importlib.import_module(f"tests.ops.graphs.{name}")
        path = snapshot.file_of(module, RELEASE)
        text = _snapshots(module)
        if path.exists() and gzip.decompress(path.read_bytes()) == text:
            continue
        changed.append(path.name)
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_compressed(text))
    print("changed:", ", ".join(changed) or "nothing")
    return int(options.check and bool(changed))


if __name__ == "__main__":
    sys.exit(main())
