"""Records the seeds that TensorFlow 1.15 gives to random nodes.

python tests/conformance/seeds/record.py        # with a Python that has TensorFlow 1.15
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def main() -> None:
    import tensorflow as tf
    from builders import builders, seeds

    lines = [f"{json.dumps(name)}: {json.dumps(seeds(tf, name))}" for name in builders(tf)]
    (HERE / "recorded.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
