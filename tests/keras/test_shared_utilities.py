"""What layers and programs take from `keras.utils`: functions as text, files, queues, lengths."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.eager import context
from penstock.keras.layers import normalization_v2
from penstock.keras.utils import data_files, enqueuers, function_bytes, serialization
from penstock.keras.utils import tensor_structures as structures
from penstock.layers import window_connections, windows

layers = tf.keras.layers


def test_a_function_goes_to_text_and_back() -> None:
    shift = 3

    def scaled(x: int, factor: int = 2) -> int:
        return x * factor + shift

    code, defaults, closure = function_bytes.func_dump(scaled)
    assert isinstance(code, str)
    assert (defaults, closure) == ((2,), (3,))
    assert function_bytes.func_load(code, defaults, closure)(4) == 11
    assert function_bytes.func_load([code, [5], [3]])(4) == 23


def test_the_class_of_a_configuration() -> None:
    found = serialization.class_and_config_for_serialized_keras_object
    described = serialization.serialize_keras_class_and_config("Some", {"units": 2})
    assert found(described, {"Some": dict}) == (dict, {"units": 2})
    assert found(described, {"Some": dict}, {"Some": list})[0] is list
    with pytest.raises(ValueError, match="Improper config format"):
        found({"class_name": "Some"})
    with pytest.raises(ValueError, match="Unknown thing: Some"):
        found(described, printable_module_name="thing")


@pytest.mark.parametrize("name", ["elu", "relu", "sigmoid", "softmax", "tanh", "linear"])
def test_layers_have_the_functions_of_keras_activations(name: str) -> None:
    function = getattr(tf.keras.activations, name)
    assert layers.Dense(3, activation=name).activation is function
    assert tf.layers.Dense(3, activation=name).activation is function


def test_an_archive_is_fetched_though_a_file_of_its_content_is_there(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("words")
    with tarfile.open(tmp_path / "origin.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "text.txt", "text.txt")
    origin = (tmp_path / "origin.tar.gz").as_uri()
    path = data_files.get_file("text.txt", origin, untar=True, cache_subdir=str(tmp_path))
    assert path == str(tmp_path / "text.txt")
    digest = data_files._hash_file(f"{path}.tar.gz")
    Path(f"{path}.tar.gz").write_text("spoilt")
    data_files.get_file("text.txt", origin, True, file_hash=digest, cache_subdir=str(tmp_path))
    assert data_files.validate_file(f"{path}.tar.gz", digest)
    with pytest.raises(OSError, match="not the expected file"):
        data_files.get_file("other", origin, file_hash="0" * 64, cache_subdir=str(tmp_path))


class _Growing(tf.keras.utils.Sequence):
    def __init__(self) -> None:
        self.factor = 1

    def __getitem__(self, index: int) -> Any:
        return index * self.factor

    def __len__(self) -> int:
        return 20

    def on_epoch_end(self) -> None:
        self.factor *= 5


def test_an_epoch_ends_when_its_last_batch_is_taken() -> None:
    queue = enqueuers.OrderedEnqueuer(_Growing())
    queue.start(3, 10)
    batches = queue.get()
    taken = [next(batches) for _ in range(40)]
    queue.stop()
    assert taken == [*range(20), *range(0, 100, 5)]


def test_lengths_and_masks_of_windows() -> None:
    lengths = [
        windows.deconv_output_length(5, 3, padding, more, 2)
        for padding in ("same", "valid", "full")
        for more in (None, 1)
    ]
    assert lengths == [10, 10, 11, 12, 7, 8]
    assert window_connections.conv_kernel_mask((0, 3), (1, 1), (1, 1), "valid").shape == (0, 3) * 2
    assert window_connections.conv_kernel_mask((0,), (0,), (1,), "valid").shape == (0, 0)


def test_symbolic_tensors() -> None:
    sparse = tf.SparseTensor([[0, 0]], [1], [3, 4])
    graph_things = [tf.Variable(0.0), tf.constant(0.0), sparse]
    assert structures.are_all_symbolic_tensors(graph_things)
    with context.eager_mode():
        eager_things = [tf.Variable(0.0), tf.constant(0.0), tf.SparseTensor([[0, 0]], [1], [3, 4])]
        assert not any(map(structures.is_symbolic_tensor, eager_things))


def test_variables_among_the_arguments_of_a_lambda_are_not_its_own() -> None:
    variable = tf.Variable(1.0)
    layer = layers.Lambda(lambda x, v: x * v, arguments={"v": variable})
    assert layer.trainable_weights == []
    layer.v = variable
    assert layer.trainable_weights == [variable]


def test_functions_of_both_forms_are_lambdas_in_a_configuration() -> None:
    def shape_of(shape: Any) -> Any:
        return shape

    config = layers.Lambda(lambda x: x + 1, output_shape=shape_of).get_config()
    assert (config["function_type"], config["output_shape_type"]) == ("lambda", "lambda")
    again = layers.Lambda.from_config(config)
    assert again.function(3) == 4
    written = {**config, "output_shape": "shape_of", "function": "add"}
    assert layers.Lambda.from_config(written, {"add": len, "shape_of": shape_of}).function is len


def test_batch_normalization_of_tensorflow_2() -> None:
    kind = tf.compat.v2.keras.layers.BatchNormalization
    assert kind is normalization_v2.BatchNormalization
    layer = kind()
    assert layer.fused is None
    layer(layers.Input((4, 4, 4)))
    assert layer.fused is True
    assert layers.BatchNormalization().fused is True
    assert kind(virtual_batch_size=2).fused is False
    with pytest.raises(ValueError, match=r"fused.*renorm"):
        kind(fused=True, renorm=True)


def test_frozen_batch_normalization_of_tensorflow_2_uses_its_averages() -> None:
    layer = normalization_v2.BatchNormalization(epsilon=0.0, trainable=False)
    outputs = layer(tf.constant([[1.0], [3.0]]), training=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(outputs), [[1.0], [3.0]])


def test_sparse_crossentropy_takes_logits_in_an_array() -> None:
    logits = np.array([[0.6, 0.4], [0.3, 0.7], [0.9, 0.2]], np.float32)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    with tf.Session() as session:
        found = session.run(loss(np.array([[0], [1], [1]]), logits))
    np.testing.assert_allclose(found, [0.59814, 0.51302, 1.10319], rtol=1e-4)
