"""The frameworks under comparison: where each one lives and how a worker makes it ready."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Framework:
    """A column of the table.

    environment: the peer environment that holds it; None stands for Penstock's own.
    load: imports the framework, limits it to that many threads, runs one trivial operation.
    """

    title: str
    environment: str | None
    load: Callable[[int], Any]


def session_config(tf: Any, threads: int) -> Any:
    return tf.ConfigProto(
        intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads
    )


def _run_a_constant(tf: Any, threads: int) -> None:
    with tf.Graph().as_default(), tf.Session(config=session_config(tf, threads)) as session:
        session.run(tf.constant(1.0))


def _load_penstock(threads: int) -> Any:
    import penstock as tf

    _run_a_constant(tf, threads)
    return tf


def _load_tensorflow(threads: int) -> Any:
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    _run_a_constant(tf, threads)
    return tf


def _load_torch(threads: int) -> Any:
    import torch

    torch.set_num_threads(threads)
    torch.ones(1).add_(1)
    return torch


def _load_jax(threads: int) -> Any:
    # JAX has no setting for the number of threads: it takes as many as the process may use CPUs,
    # and the worker has limited those.
    import jax

    jax.numpy.ones(1).block_until_ready()
    return jax


FRAMEWORKS = {
    "penstock": Framework("Penstock", None, _load_penstock),
    "tensorflow": Framework("TensorFlow", "tf", _load_tensorflow),
    "torch": Framework("PyTorch eager", None, _load_torch),
    "torch-compiled": Framework("PyTorch compiled", None, _load_torch),
    "jax": Framework("JAX jit", "jax", _load_jax),
}


def default_peers_directory() -> Path:
    """PENSTOCK_PEERS, or a folder in the user's cache."""
    if named := os.environ.get("PENSTOCK_PEERS"):
        return Path(named).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "penstock-peers"


def environment_python(directory: Path, environment: str) -> Path:
    return directory / environment / "bin" / "python"


def interpreter(framework: str, peers: Path) -> Path:
    """The Python that runs a framework; FileNotFoundError if its environment was never made."""
    environment = FRAMEWORKS[framework].environment
    if environment is None:
        return Path(sys.executable)
    python = environment_python(peers, environment)
    if not python.exists():
        raise FileNotFoundError(
            f"no environment for {framework} at {python}; make it with "
            f"`python -m benchmarks.setup_peers --dir {peers}`, or leave {framework} out "
            "with --frameworks"
        )
    return python
