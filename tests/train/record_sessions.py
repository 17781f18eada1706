"""Builds the graphs of training sessions in real TensorFlow and records their nodes.

Run it with a Python that has TensorFlow 2.21, from anywhere:

    python tests/train/record_sessions.py
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import tensorflow.compat.v1 as tf

from tests.train import records, session_programs

if __name__ == "__main__":
    tf.disable_v2_behavior()
    found = {
        name: {"nodes": records.nodes(session_programs.built(tf, name).get_operations())}
        for name in session_programs.PROGRAMS
    }
    records.write("sessions", found)
