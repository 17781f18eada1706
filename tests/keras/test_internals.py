"""What TensorFlow's own tests of Keras reach for: tensors as data, checks, and inner modules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from penstock.python.keras import losses, metrics, models
from penstock.python.keras import model_subclassing_test_util as subclassed
from penstock.python.keras.engine import input_spec, training_utils
from penstock.python.keras.layers import kernelized
from penstock.python.keras.saving import saving_utils
from penstock.python.keras.utils import (
    kernelized_utils,
    layer_utils,
    losses_utils,
    metrics_utils,
    tf_utils,
)
from penstock.python.training.tracking import layer_utils as tracked_layers

import penstock as tf

keras = tf.keras
L = keras.layers


@pytest.fixture(autouse=True)
def graph() -> Any:
    keras.backend.clear_session()
    with tf.Graph().as_default() as graph:
        yield graph
    keras.backend.clear_session()


def _model(units: int = 2) -> Any:
    x = keras.Input((3,))
    return keras.Model(x, L.Dense(units, name="d", kernel_initializer="zeros")(x))


def test_tensors_as_data() -> None:
    model = _model()
    model.compile("sgd", "mse", metrics=["mae"])
    x, y = tf.ones([4, 3]), tf.ones([4, 2])
    validation = {"validation_data": (x, y), "validation_steps": 1}
    history = model.fit(x, y, epochs=2, steps_per_epoch=2, verbose=0, **validation)
    assert len(history.history["loss"]) == 2 and "val_mean_absolute_error" in history.history
    assert history.history["loss"][1] < history.history["loss"][0]
    assert model.evaluate(x, y, steps=1, verbose=0)[0] < history.history["loss"][1]
    assert model.predict(x, steps=2).shape == (8, 2)
    assert model.train_on_batch(x, y)[0] > 0 and model.predict_on_batch(x).shape == (4, 2)
    with pytest.raises(ValueError, match="should specify the `steps_per_epoch` argument"):
        model.fit(x, y, verbose=0)
    with pytest.raises(ValueError, match="should specify the `steps` argument"):
        model.evaluate(x, y)
    with pytest.raises(ValueError, match="should specify the `validation_steps` argument"):
        model.fit(x, y, steps_per_epoch=1, validation_data=(x, y), verbose=0)


def test_a_model_with_its_data_inside() -> None:
    x = keras.Input(tensor=tf.ones([4, 3]))
    model = keras.Model(x, L.Dense(2)(x))
    model.compile("sgd", "mse", target_tensors=[tf.zeros([4, 2])])
    history = model.fit(None, None, steps_per_epoch=3, verbose=0)
    assert len(history.history["loss"]) == 1
    assert model.evaluate(steps=1, verbose=0) >= 0 and model.predict(None, steps=2).shape == (8, 2)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"metrics": 5}, TypeError, "Expected a list or dictionary, found: 5"),
        ({"metrics": [["mae"], ["mae"]]}, ValueError, "list of lists as `metrics`"),
        ({"loss_weights": "x"}, TypeError, "Could not interpret loss_weights"),
        ({"loss_weights": [1.0, 2.0]}, ValueError, "a list as loss_weights"),
        ({"sample_weight_mode": {"zz": None}}, ValueError, "in sample_weight_mode dictionary"),
        ({"sample_weight_mode": [None] * 2}, ValueError, "a list as sample_weight_mode"),
        ({"target_tensors": 5}, TypeError, "Expected `target_tensors` to be a list"),
        ({"target_tensors": {"zz": None}}, ValueError, "in target_tensors dictionary"),
    ],
)
def test_arguments_of_compile(arguments: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        _model().compile("sgd", "mse", **arguments)


def test_the_input_is_that_of_the_first_call() -> None:
    layer, x = L.Dense(1), keras.Input((3,))
    layer(x)
    layer(keras.Input((3,)))
    assert layer.input is x


def test_variables_made_by_build_have_no_prefix() -> None:
    class Own(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.part = L.Dense(2, name="part")

        def call(self, inputs: Any) -> Any:
            return self.part(inputs)

    class Idle(keras.Model):
        pass

    own = Own()
    own.build((None, 3))
    assert own.built and [w.name for w in own.weights] == ["part/kernel:0", "part/bias:0"]
    with pytest.raises(NotImplementedError, match="implement a `call`"):
        Idle().build((None, 3))


def test_checks_of_data() -> None:
    training_utils.check_array_lengths(None, [np.zeros((2, 1))], None)
    with pytest.raises(ValueError, match="same number of samples as target"):
        training_utils.check_array_lengths([np.zeros(3)], [np.zeros(2)])
    assert training_utils.check_num_samples([np.zeros((5, 1))]) == 5
    with pytest.raises(ValueError, match="`batch_size` must be None"):
        training_utils.check_num_samples([np.zeros(2)], batch_size=1, steps=2)
    assert training_utils.standardize_single_array(np.zeros(3)).shape == (3, 1)
    weights = training_utils.standardize_weights(np.array([0, 1, 1]), class_weight={0: 2.0, 1: 3.0})
    assert weights.tolist() == [2.0, 3.0, 3.0]
    is_due = training_utils.should_run_validation
    assert [is_due(2, epoch) for epoch in range(4)] == [False, True] * 2
    with pytest.raises(ValueError, match="less than 1"):
        is_due(0, 1)
    rows = training_utils.slice_arrays([np.arange(4), None], [1, 3])
    assert rows[0].tolist() == [1, 3] and rows[1] is None


def test_model_inputs() -> None:
    inputs = training_utils.ModelInputs({"b": np.ones((4, 2)), "a": np.ones(4, np.int32)})
    assert inputs.get_input_names() == ["a", "b"]
    made = inputs.get_symbolic_inputs()
    assert made["a"].shape.as_list() == [None, 1] and made["a"].dtype == tf.int32
    assert made["b"].shape.as_list() == [None, 2] and made["b"].dtype == tf.float32


def test_what_datasets_are() -> None:
    data = tf.data.Dataset.range(5)
    training_utils.assert_not_batched(data.map(lambda x: x).shuffle(2).repeat(2))
    training_utils.assert_not_shuffled(data.batch(2).cache())
    with pytest.raises(ValueError, match="not batched"):
        training_utils.assert_not_batched(tf.data.Dataset.zip((data, data.batch(2))))
    with pytest.raises(ValueError, match="not shuffled"):
        training_utils.assert_not_shuffled(data.shuffle(2).take(1))


def test_counts_need_probabilities() -> None:
    metric = keras.metrics.Precision(top_k=1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="predictions must be <= 1"):
        metric.update_state([[0, 1]], [[0.5, 2.0]])
    assert keras.metrics.AUC(curve="PR").curve is metrics_utils.AUCCurve.PR
    with pytest.raises(ValueError, match="Invalid AUC curve"):
        keras.metrics.AUC(curve="x")
    assert keras.metrics.SensitivityAtSpecificity(0.5, num_thresholds=1).thresholds == [0.5]
    with pytest.raises(ValueError, match="Please provide at least one valid"):
        metrics_utils.update_confusion_matrix_variables({"tp": None}, [1], [1.0], [0.5])


def test_sums_over_the_number_of_values() -> None:
    metric = metrics.clone_metric(metrics.SumOverBatchSize())
    update = metric.update_state([1.0, 3.0, 5.0, 7.0], sample_weight=[1.0, 1.0, 0.0, 0.0])
    with tf.Session() as session:
        session.run([v.initializer for v in metric.variables])
        session.run(update)
        assert session.run(metric.result()) == 1.0


def test_losses() -> None:
    each = tf.constant([1.0, 3.0])
    with tf.Session() as session:
        for reduction, expected in (("none", [2.0, 0.0]), ("sum", 2.0), ("auto", 1.0)):
            total = losses_utils.compute_weighted_loss(each, [2.0, 0.0], reduction)
            np.testing.assert_array_equal(session.run(total), expected)
        assert session.run(losses_utils.reduce_weighted_loss(each)) == 2.0
    with pytest.raises(ValueError, match="Invalid Reduction Key"):
        losses_utils.compute_weighted_loss(each, reduction="x")


def test_structures_of_shapes_and_calls() -> None:
    shapes = tf_utils.convert_shapes({"a": [None, 3], "b": (tf.TensorShape([2]), 5)})
    assert shapes == {"a": (None, 3), "b": ((2,), (5,))}
    wrapped = tf_utils.convert_inner_node_data([["in", 0, 0], ["d", 0, 1, {}]], wrap=True)
    assert [each.as_list()[0] for each in wrapped] == ["in", "d"]
    assert tf_utils.convert_inner_node_data(wrapped) == [["in", 0, 0], ["d", 0, 1, {}]]
    x = tf.placeholder(tf.float32)
    y = x * 2.0
    found = tf_utils.get_reachable_from_inputs([x])
    assert y in found and y.op in found and tf.zeros([]) not in found
    with pytest.raises(TypeError, match="Expected Operation, Variable, or Tensor"):
        tf_utils.get_reachable_from_inputs([3])


def test_kernels_of_vectors() -> None:
    x, y = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([1.0, 2.0])
    layer = kernelized.RandomFourierFeatures(5, scale=2.0)
    with tf.Session() as session:
        products = session.run(kernelized_utils.inner_product(x, y))
        assert products.tolist() == [[5.0], [11.0]]
        gaussian = session.run(kernelized_utils.exact_gaussian_kernel(x, y, 2.0))
        np.testing.assert_allclose(gaussian, [[1.0], [np.exp(-1.0)]], rtol=1e-6)
        laplacian = session.run(kernelized_utils.exact_laplacian_kernel(x, y, 2.0))
        np.testing.assert_allclose(laplacian, [[1.0], [np.exp(-2.0)]], rtol=1e-6)
        outputs = layer(x)
        session.run(tf.global_variables_initializer())
        assert np.abs(session.run(outputs)).max() <= 1.0
    assert outputs.shape.as_list() == [2, 5] and len(layer.trainable_weights) == 0
    with pytest.raises(ValueError, match="Unsupported kernel type: 'x'"):
        type(layer)(5, "x")


def test_rows_of_a_file(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    path = str(tmp_path / "data.h5")
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(30, dtype=np.float32).reshape(10, 3)
    matrix = keras.utils.HDF5Matrix(path, "x", start=2, end=8, normalizer=lambda rows: rows + 1)
    try:
        assert matrix.shape == (6, 3) and len(matrix) == 6 and matrix.size == 18
        assert matrix[0].tolist() == [7.0, 8.0, 9.0] and matrix[1:3].shape == (2, 3)
        assert matrix[[0, 5]][1].tolist() == [22.0, 23.0, 24.0]
        with pytest.raises(IndexError):
            matrix[6]
        assert _model().predict(matrix).shape == (6, 2)
    finally:
        keras.utils.HDF5Matrix.refs.pop(path).close()


def test_turned_kernels() -> None:
    model = keras.Sequential([L.Conv1D(1, 2, input_shape=(4, 1)), L.Flatten(), L.Dense(1)])
    before = model.get_weights()
    keras.utils.convert_all_kernels_in_model(model)
    np.testing.assert_array_equal(model.get_weights()[0], before[0][::-1])
    dense = L.Dense(1)
    dense(keras.Input((8,)))
    dense.set_weights([np.arange(8.0).reshape(8, 1), np.zeros(1)])
    layer_utils.convert_dense_weights_data_format(dense, (2, 2, 2))
    assert dense.get_weights()[0].ravel().tolist() == [0, 2, 4, 6, 1, 3, 5, 7]


def test_several_gpus_are_needed() -> None:
    with pytest.raises(ValueError, match="`gpus >= 2`"):
        keras.utils.multi_gpu_model(_model(), gpus=1)
    with pytest.raises(ValueError, match="we expect the following devices to be available"):
        keras.utils.multi_gpu_model(_model(), gpus=[0, 99])


def test_drawings_need_pydot(monkeypatch: pytest.MonkeyPatch) -> None:
    from penstock.keras.utils import model_plots

    monkeypatch.setattr(model_plots, "_pydot", lambda: None)
    with pytest.raises(ImportError, match="install pydot"):
        keras.utils.plot_model(_model(), "model.png")


def test_models_for_tests() -> None:
    x, labels = np.ones((4, 5)), np.ones((4, 2))
    for made in (
        subclassed.NestedTestModel1(2),
        subclassed.NestedTestModel2(2),
        subclassed.get_nested_model_3(5, 2),
        subclassed.SimpleTestModel(use_bn=True, use_dp=True, num_classes=2),
    ):
        made.compile("sgd", "mse")
        made.fit(x, labels, verbose=0)
        assert made.predict(x).shape == (4, 2)
    both = subclassed.MultiIOTestModel(use_bn=True, use_dp=True)
    both.compile("sgd", "mse")
    both.fit([x, x], [labels, np.ones((4, 3))], verbose=0)
    y = subclassed.CustomCallModel()(tf.ones([2, 3]), tf.ones([2, 3]), fiddle_with_output="yes")
    assert y.shape.as_list() == [2, 1]
    assert losses.is_categorical_crossentropy(keras.losses.CategoricalCrossentropy())
    assert not losses.is_categorical_crossentropy("mse")


def test_what_files_say_about_models() -> None:
    model = _model()
    model.compile("sgd", "mse", metrics=["mae"], loss_weights=[2.0])
    (spec,) = saving_utils.model_input_signature(model)
    assert spec == tf.TensorSpec([None, 3], tf.float32, name=model.input_names[0])
    assert list(saving_utils.extract_model_metrics(model)) == ["mean_absolute_error"]
    metadata = saving_utils.model_metadata(model)
    assert metadata["keras_version"] == "2.2.4-tf"
    config = metadata["training_config"]
    again = saving_utils.compile_args_from_training_config(config)
    assert isinstance(again["optimizer"], keras.optimizers.SGD)
    assert (again["loss"], again["loss_weights"]) == ("mse", [2.0])


def test_specs_of_inputs() -> None:
    spec = L.InputSpec(ndim=3, axes={2: 5}, dtype="int32")
    assert input_spec.to_tensor_shape(spec).as_list() == [None, None, 5]
    assert input_spec.to_tensor_spec(spec) == tf.TensorSpec([None, None, 5], tf.int32)
    assert input_spec.to_tensor_spec(None).shape.ndims is None


def test_layers_of_containers() -> None:
    dense = L.Dense(1)

    class Box:
        layers = (dense, L.Dense(2))

    found = tracked_layers.filter_empty_layer_containers([dense, Box(), 3])
    assert found == list(Box.layers) and not tracked_layers.is_layer(L.Dense)
    assert tracked_layers.has_weights(dense) and not tracked_layers.has_weights(3)


def _dataset() -> Any:
    rows = np.ones((4, 3), np.float32), np.ones((4, 2), np.float32)
    return tf.data.Dataset.from_tensor_slices(rows).batch(2)


@pytest.mark.parametrize(
    ("arguments", "of_dataset", "of_generator"),
    [
        ({"y": 1}, r"should not specify a target \(`y`\)", "`y` argument is not supported"),
        (
            {"sample_weight": 1},
            "`sample_weight` argument is not",
            "`sample_weight` argument is not",
        ),
        (
            {"validation_split": 0.5},
            "`validation_split` argument is not",
            "cannot use `validation_s",
        ),
        (
            {"batch_size": 3},
            "`batch_size` argument must not be",
            "`batch_size` argument must not be",
        ),
    ],
)
def test_arguments_beside_sources(arguments: Any, of_dataset: str, of_generator: str) -> None:
    model = _model()
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match=of_dataset):
        model.fit(_dataset(), **arguments)
    with pytest.raises(ValueError, match=of_generator):
        model.fit((each for each in ()), steps_per_epoch=1, **arguments)


@pytest.mark.parametrize(
    ("method", "argument"),
    [("fit", "steps_per_epoch"), ("evaluate", "steps"), ("predict", "steps")],
)
def test_endless_datasets(method: str, argument: str) -> None:
    model = _model()
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match=f"must specify the `{argument}` argument"):
        getattr(model, method)(_dataset().repeat(), verbose=0)


def test_weights_of_other_shapes_in_a_file(tmp_path: Path) -> None:
    path = str(tmp_path / "w.h5")
    _model(2).save_weights(path)
    with pytest.raises(
        ValueError, match=r'Layer #\d \(named "d"\), weight <tf.Variable .* has shape'
    ):
        _model(4).load_weights(path, by_name=True)
    with pytest.raises(ValueError, match="have not yet been created"):
        keras.Sequential([L.Dense(2)]).load_weights(path)


def test_clones_are_compiled_alike() -> None:
    model = _model()
    with pytest.raises(ValueError, match="has not been compiled"):
        models.clone_and_build_model(model)
    model.compile(keras.optimizers.Adam(0.5), "mse", metrics=[keras.metrics.AUC()])
    steps = tf.Variable(7, dtype=tf.int64, trainable=False)
    clone = models.clone_and_build_model(model, optimizer_iterations=steps)
    assert clone.optimizer.iterations is steps and clone.optimizer is not model.optimizer
    assert clone.metrics[0] is not model.metrics[0]
    shared = keras.models.clone_model(model, clone_function=models.share_weights)
    assert shared.weights == model.weights


def test_schedules_come_back() -> None:
    for schedule in (
        keras.experimental.CosineDecayRestarts(1.0, 10),
        keras.experimental.LinearCosineDecay(1.0, 10),
        keras.experimental.NoisyLinearCosineDecay(1.0, 10),
    ):
        schedules = keras.optimizers.schedules
        again = schedules.deserialize(schedules.serialize(schedule))
        assert type(again) is type(schedule) and again.get_config() == schedule.get_config()


def test_keys_of_variables_in_optimizers() -> None:
    from penstock.python.keras.optimizer_v2 import optimizer_v2

    with tf.Graph().as_default():
        made = [tf.Variable([1.0], name="var", use_resource=True) for _ in range(2)]
        assert [optimizer_v2._var_key(each) for each in made] == ["var", "var_1"]


def test_tensors_are_not_updated() -> None:
    tensor = tf.constant(1.0)
    optimizer = keras.optimizers.SGD(3.0)
    pairs = optimizer._compute_gradients(lambda: tensor * tensor, [tensor])
    assert pairs[0][1] is tensor
    with pytest.raises(NotImplementedError, match="Trying to update a Tensor"):
        optimizer.apply_gradients(pairs)
