"""Names of TensorFlow 1.x that Penstock does not have: why, and what to use.

The reasons are data: the error of a missing name gives them, `penstock doctor` does, and
docs/compatibility.md lists them.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.errors import NotFoundError

#: A symbol, or a namespace with all that is in it, and what to do about it.
REASONS: dict[str, str] = {
    "tf.load_op_library": "Libraries of compiled ops are made for one TensorFlow; write the op as "
    "docs/adding-an-op.md shows, or use tf.py_func.",
    "tf.load_library": "Libraries of compiled ops are made for one TensorFlow.",
    "tf.load_file_system_library": "Files are read through the operating system: mount them.",
    "tf.lite": "Export a frozen graph or a SavedModel, and convert it with TensorFlow's own tools.",
    "tf.contrib.lite": "Export a frozen graph or a SavedModel, and convert it with TensorFlow's "
    "own tools.",
    **dict.fromkeys(
        [
            f"tf.tpu.{name}"
            for name in (
                "batch_parallel core experimental initialize_system outside_compilation replicate "
                "rewrite shard shutdown_system"
            ).split()
        ],
        "There are no TPUs here.",
    ),
    "tf.pywrap_tensorflow": "There is no compiled core: tf.train.NewCheckpointReader reads "
    "checkpoints, tf.io.tf_record_iterator reads records.",
    "tf.LazyLoader": "Use importlib.",
    "tf.experimental": "It sets how TensorFlow's own executor runs functions; plans need no "
    "setting.",
    "tf.errors.raise_exception_on_not_ok_status": "There is no compiled core with a status: errors "
    "are raised.",
    "tf.saved_model.experimental": "tf.saved_model.save takes no options.",
    **dict.fromkeys(
        [
            "tf.distribute.experimental.TPUStrategy",
            "tf.contrib.distribute.TPUStrategy",
            "tf.contrib.distribute.initialize_tpu_system",
        ],
        "There are no TPUs here: tf.distribute.MirroredStrategy is for several GPUs.",
    ),
    "tf.contrib.seq2seq.dynamic_rnn_decoder": "TensorFlow 1.2 replaced it: use "
    "tf.contrib.seq2seq.dynamic_decode with a BasicDecoder and a TrainingHelper.",
    "tf.contrib.seq2seq.simple_decoder_fn_train": "TensorFlow 1.2 replaced it: use "
    "tf.contrib.seq2seq.TrainingHelper.",
    "tf.contrib.seq2seq.simple_decoder_fn_inference": "TensorFlow 1.2 replaced it: use "
    "tf.contrib.seq2seq.GreedyEmbeddingHelper.",
    "tf.contrib.seq2seq.attention_decoder_fn_train": "TensorFlow 1.2 replaced it: use "
    "tf.contrib.seq2seq.AttentionWrapper with a TrainingHelper.",
    "tf.contrib.seq2seq.attention_decoder_fn_inference": "TensorFlow 1.2 replaced it: use "
    "tf.contrib.seq2seq.AttentionWrapper with a GreedyEmbeddingHelper.",
    "tf.contrib.seq2seq.prepare_attention": "TensorFlow 1.2 replaced it: use "
    "tf.contrib.seq2seq.BahdanauAttention or LuongAttention.",
    **dict.fromkeys(
        [
            f"tf.contrib.tpu.{name}"
            for name in (
                "AsyncCheckpointSaverHook DeviceAssignment TPUDistributionStrategy "
                "TPUInfeed all_to_all batch_parallel core cross_replica_concat "
                "device_assignment infeed_dequeue initialize_system keras_to_tpu_model "
                "outside_compilation profiler repeat replicate rewrite shard shutdown_system "
                "while_loop"
            ).split()
        ],
        "There are no TPUs here: TPUEstimator runs with use_tpu=False, and a session on a CPU or "
        "GPU.",
    ),
    "tf.train.do_quantize_training_on_graphdef": "Training does not simulate quantization.",
    "tf.contrib.tensorrt": "Graphs are optimised for the device at hand without being asked to.",
    "tf.contrib.ffmpeg": "Decode sound with tf.audio.decode_wav, or with a program of its own.",
    "tf.contrib.fused_conv": "Convolutions take in their bias and ReLU by themselves.",
    "tf.contrib.meta_graph_transform": "Use tf.graph_util, or penstock's optimize_for_inference.",
    "tf.contrib.remote_fused_graph": "It ran graphs on one accelerator.",
    "tf.contrib.rpc": "Call services in tf.py_func.",
    "tf.contrib.stat_summarizer": "Use tf.profiler.profile, or penstock profile.",
    **dict.fromkeys(
        [f"tf.contrib.{name}" for name in "bigtable cloud hadoop ignite kafka kinesis".split()],
        "Read files, or feed a tf.data.Dataset.from_generator.",
    ),
    **dict.fromkeys(
        [f"tf.contrib.boosted_trees.{name}" for name in "estimator_batch lib proto".split()],
        "Use tf.estimator.BoostedTreesClassifier and its kin.",
    ),
    "tf.contrib.gan.eval.sliced_wasserstein_distance": "Use "
    "tf.contrib.gan.eval.frechet_classifier_distance with a classifier of your own.",
    "tf.contrib.gan.features.keras_spectral_normalization": "Use "
    "tf.contrib.gan.features.spectral_normalize in a layer of your own.",
    **dict.fromkeys(
        [
            f"tf.contrib.gan.estimator.{name}"
            for name in "TPUGANEstimator StarGANEstimator get_latent_gan_estimator".split()
        ],
        "Write a model_fn with tf.contrib.gan.gan_train_ops, or use GANEstimator.",
    ),
    **dict.fromkeys(
        [
            f"tf.contrib.cudnn_rnn.{name}"
            for name in (
                "CudnnLSTMSaveable CudnnGRUSaveable CudnnRNNReluSaveable CudnnRNNTanhSaveable "
                "CudnnParamsFormatConverterLSTM CudnnParamsFormatConverterGRU "
                "CudnnParamsFormatConverterTanh CudnnParamsFormatConverterRelu"
            ).split()
        ],
        "Weights are variables of their own, under the names that TensorFlow saves them by.",
    ),
    "tf.contrib.losses.metric_learning.cluster_loss": "Use triplet_semihard_loss or "
    "lifted_struct_loss.",
    "tf.contrib.image.single_image_random_dot_stereograms": "Compute them in NumPy.",
    "tf.contrib.summary.create_db_writer": "Events go to files: use create_file_writer.",
    "tf.keras.callbacks.RemoteMonitor": "Penstock sends nothing over the network: use CSVLogger, "
    "TensorBoard or LambdaCallback.",
}

#: What a program asked for and did not get, for a report at its end.
met: set[str] = set()


def reason(symbol: str) -> str | None:
    """Why a symbol is missing and what to use, if the table says so for it or a part above it."""
    parts = symbol.split(".")
    for length in range(len(parts), 0, -1):
        found = REASONS.get(".".join(parts[:length]))
        if found:
            return found
    return None


class NoLibrariesError(NotFoundError, AttributeError):
    """Programs that can do without a library of their own expect that it is not found."""

    def __init__(self, message: str):
        super().__init__(None, None, message)


def error(symbol: str) -> AttributeError:
    """The error for a symbol that is asked for and missing."""
    met.add(symbol)
    advice = reason(symbol) or "docs/compatibility.md lists what is not there."
    loads_library = symbol.endswith((".load_op_library", ".load_library"))
    kind = NoLibrariesError if loads_library else AttributeError
    return kind(f"penstock has no {symbol}. {advice}")


@contextmanager
def unrecorded() -> Iterator[None]:
    """Looks for names, and does not count those that are missing."""
    before = set(met)
    try:
        yield
    finally:
        met.clear()
        met.update(before)


def watch(module: types.ModuleType, symbol: str) -> None:
    """Lets a namespace explain the names that it lacks, under the name that users know it by."""
    inner = module.__dict__.get("__getattr__")

    def explained(name: str) -> Any:
        if inner is not None:
            try:
                return inner(name)
            except AttributeError as own:
                if own.args != (name,):  # it has something to say itself
                    met.add(f"{symbol}.{name}")
                    raise
        if name.startswith("__"):
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        raise error(f"{symbol}.{name}")

    module.__getattr__ = explained  # type: ignore[method-assign]
