"""Runs the training programs in real TensorFlow and records what it builds and computes.

Run it with a Python that has TensorFlow 2.21 and NumPy 2, from anywhere:

    python tests/train/record_optimizers.py            # everything
    python tests/train/record_optimizers.py adam ema   # some

Polynomial decays are recorded with TensorFlow 1.15, whose nodes differ.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import tensorflow.compat.v1 as tf

from tests.train import averages_programs, decay_programs, optimizer_programs, records


def record_optimizer(optimizer: str) -> dict[str, Any]:
    found = {}
    for program in optimizer_programs.programs(optimizer):
        built = optimizer_programs.build(tf, program)
        operations = built.graph.get_operations()[built.forward_nodes :]
        values = optimizer_programs.run(tf, program, built)
        with built.graph.as_default():
            made = built.optimizer.variables()
        found[program.name] = {
            "nodes": records.nodes(op for op in operations if not op.name.startswith("gradients/")),
            "slots": built.optimizer.get_slot_names(),
            "variables": [variable.op.name for variable in made],
            "values": {
                step: {name: records.numbers(value) for name, value in values[step].items()}
                for step in values
            },
        }
    return found


def record_decays() -> dict[str, Any]:
    found = {}
    for name in decay_programs.DECAYS:
        built = decay_programs.build(tf, name)
        found[name] = {
            "nodes": records.nodes(built.graph.get_operations()),
            "values": records.numbers(decay_programs.run(tf, built)),
        }
    return found


def record_averages() -> dict[str, Any]:
    found = {}
    for name in averages_programs.PROGRAMS:
        built = averages_programs.build(tf, name)
        found[name] = {
            "nodes": records.nodes(averages_programs.own_nodes(built)),
            "restore": averages_programs.names_to_restore(built),
            "values": [
                {key: records.numbers(value) for key, value in step.items()}
                for step in averages_programs.run(tf, built)
            ],
        }
    return found


def main() -> None:
    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    recorders: dict[str, Callable[[], dict[str, Any]]] = {
        optimizer: lambda optimizer=optimizer: record_optimizer(optimizer)  # type: ignore[misc]
        for optimizer in optimizer_programs.OPTIMIZERS
    }
    recorders |= {"decays": record_decays, "averages": record_averages}
    for name in sys.argv[1:] or recorders:
        found = recorders[name]()
        records.write(name, found)
        print(f"{name}: {len(found)} programs")


if __name__ == "__main__":
    main()
