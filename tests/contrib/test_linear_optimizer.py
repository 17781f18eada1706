"""`tf.contrib.linear_optimizer` and the estimators on it; numbers are TensorFlow 1.15's."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.contrib import layers, learn
from penstock.contrib.linear_optimizer import SdcaModel, SDCAOptimizer, SparseFeatureColumn
from penstock.estimator.sdca.sharded_table import ShardedMutableDenseHashTable


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as made:
        yield made


def _problem(loss, in_parts=False, **options):
    columns = [
        SparseFeatureColumn([0, 1, 2, 3], [0, 1, 0, 1], [1.0, 1.0, 1.0, 1.0]),
        SparseFeatureColumn([0, 1, 1, 3], [2, 0, 1, 2], [0.5, 1.0, 2.0, 1.0]),
    ]
    examples = {
        "sparse_features": columns,
        "dense_features": [tf.constant([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, 0.2]])],
        "example_weights": [1.0, 1.0, 2.0, 0.5],
        "example_labels": [0.0, 3.0, 1.0, 2.0] if loss == "poisson_loss" else [0.0, 1.0, 0.0, 1.0],
        "example_ids": ["0", "1", "2", "3"],
    }
    partitioner = tf.fixed_size_partitioner(2) if in_parts else None
    zeros = tf.zeros_initializer()
    variables = {
        "sparse_features_weights": [
            tf.get_variable("a", [2], initializer=zeros),
            tf.get_variable("b", [3], initializer=zeros, partitioner=partitioner),
        ],
        "dense_features_weights": [
            tf.get_variable("d", [2], initializer=zeros, partitioner=partitioner)
        ],
    }
    settings = {
        "loss_type": loss,
        "symmetric_l1_regularization": 0.0,
        "symmetric_l2_regularization": 1.0,
        **options,
    }
    return examples, variables, settings


LEARNED = {
    "logistic_loss": ([0.24, 0.79, 0.21, 0.56], 0.28, 0.41),
    "squared_loss": ([0.04, 0.90, 0.03, 0.55], 0.01, 0.04),
    "hinge_loss": ([-1.0, 1.0, -1.0, 0.57], 0.05, 0.16),
    "smooth_hinge_loss": ([-0.74, 0.89, -0.89, 0.40], 0.20, 0.27),
    "poisson_loss": ([0.59, 2.93, 0.87, 1.41], 0.60, 0.64),
}


@pytest.mark.parametrize("loss", LEARNED)
@pytest.mark.parametrize(
    "form", [{}, {"in_parts": True, "num_table_shards": 3, "adaptive": False}], ids=["", "parts"]
)
def test_a_model_learns_what_tensorflow_learns(loss, form, session):
    examples, variables, options = _problem(loss, **form)
    model = SdcaModel(examples, variables, options)
    training = model.update_weights(model.minimize())
    fetches = [
        model.predictions(examples),
        model.unregularized_loss(examples),
        model.regularized_loss(examples),
        model.approximate_duality_gap(),
    ]
    session.run(tf.global_variables_initializer())
    for _ in range(60):
        session.run(training)
    predictions, plain, regularized, gap = session.run(fetches)
    expected = LEARNED[loss]
    np.testing.assert_allclose(predictions, expected[0], atol=0.02)
    np.testing.assert_allclose([plain, regularized], expected[1:], atol=0.01)
    assert abs(gap) < 0.02


@pytest.mark.usefixtures("session")
def test_names_of_slots_and_summaries():
    SdcaModel(*_problem("squared_loss"))
    assert [variable.op.name for variable in tf.global_variables()][3:] == [
        "a_unshrinked/SDCAOptimizer",
        "b_unshrinked/SDCAOptimizer",
        "d_unshrinked/SDCAOptimizer",
    ]
    names = [tensor.op.name for tensor in tf.get_collection(tf.GraphKeys.SUMMARIES)]
    assert names == ["approximate_duality_gap", "examples_seen"]


@pytest.mark.usefixtures("session")
def test_what_a_model_refuses():
    examples, variables, options = _problem("squared_loss")
    for arguments, message in (
        (({}, variables, options), "examples, variables and options must all be specified."),
        ((examples, variables, {**options, "loss_type": "other"}), "Unsupported loss_type"),
        (({**examples, "dense_features": 3}, variables, options), "dense_features must be a list"),
        (
            (examples, variables, {**options, "symmetric_l1_regularization": -1.0}),
            "symmetric_l1_regularization should be non-negative",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            SdcaModel(*arguments)


def test_a_table_in_parts(session):
    table = ShardedMutableDenseHashTable(
        tf.int64, tf.float32, [0.0, 0.0], empty_key=[0, 0], deleted_key=[1, 1], num_shards=2
    )
    keys = tf.constant([[11, 12], [15, 13], [14, 4]], tf.int64)
    session.run(table.insert(keys, tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])))
    asked = tf.constant([[11, 12], [2, 2], [14, 4]], tf.int64)
    size, found = session.run([table.size(), table.lookup(asked)])
    assert size == 3
    assert found.tolist() == [[1.0, 2.0], [0.0, 0.0], [5.0, 6.0]]
    sizes = [int(part[:, 0].astype(bool).sum()) for part in session.run(table.export_sharded()[0])]
    assert sorted(sizes) == [1, 2]


def _homes():
    features = {
        "example_id": tf.constant(["1", "2", "3"]),
        "price": tf.constant([[0.6], [0.8], [0.3]]),
        "area": tf.constant([[900.0], [700.0], [600.0]]),
        "weight": tf.constant([[1.0], [2.0], [1.0]]),
        "country": tf.SparseTensor([[0, 0], [1, 3], [2, 1]], ["IT", "US", "GB"], [3, 5]),
    }
    return features, tf.constant([[1], [0], [1]])


def _columns():
    area = layers.real_valued_column("area")
    return [
        layers.real_valued_column("price"),
        layers.sparse_column_with_hash_bucket("country", hash_bucket_size=5),
        layers.bucketized_column(area, boundaries=[650.0, 800.0]),
    ]


def test_a_support_vector_machine(tmp_path):
    machine = learn.SVM(
        example_id_column="example_id",
        feature_columns=_columns(),
        weight_column_name="weight",
        model_dir=str(tmp_path),
        l1_regularization=0.1,
        l2_regularization=1.0,
    )
    machine.fit(input_fn=_homes, steps=30)
    found = machine.evaluate(input_fn=_homes, steps=1)
    assert found["accuracy"] == 1.0
    assert found["loss"] < 0.01
    assert list(machine.predict_classes(input_fn=_homes)) == [1, 0, 1]
    weights = machine.get_variable_value("linear/area_bucketized/weights")
    np.testing.assert_allclose(weights, [[0.4], [-0.6], [0.4]], atol=0.02)


def test_kernels_are_refused():
    with pytest.raises(ValueError, match="Kernel SVMs are not currently supported"):
        learn.SVM("id", [], kernels=["rbf"])


@pytest.mark.parametrize(
    ("kind", "loss"), [(learn.LinearClassifier, 0.35), (learn.LinearRegressor, 0.03)]
)
def test_linear_estimators(kind, loss, tmp_path):
    estimator = kind(
        feature_columns=_columns(),
        optimizer=SDCAOptimizer("example_id", symmetric_l2_regularization=1.0),
        weight_column_name="weight",
        model_dir=str(tmp_path),
    )
    estimator.fit(input_fn=_homes, steps=60)
    assert abs(estimator.evaluate(input_fn=_homes, steps=1)["loss"] - loss) < 0.02


def test_a_logistic_regressor(tmp_path):
    def model(features, labels, mode):
        slope = tf.get_variable("slope", [], initializer=tf.ones_initializer())
        bias = tf.get_variable("bias", [], initializer=tf.zeros_initializer())
        predictions = tf.sigmoid(features["price"] * slope + bias)
        if labels is None:
            return predictions, None, None
        loss = tf.reduce_mean(tf.square(predictions - tf.to_float(labels)))
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        return predictions, loss, optimizer.minimize(loss, tf.train.get_global_step())

    regressor = learn.LogisticRegressor(model, thresholds=[0.4, 0.6], model_dir=str(tmp_path))
    regressor.fit(input_fn=_homes, steps=5)
    found = regressor.evaluate(input_fn=_homes, steps=1)
    assert found["precision/positive_threshold_0.600000_mean"] == 0.5
    np.testing.assert_allclose(found["labels/prediction_mean"], 0.638, atol=1e-3)
    probabilities = [each.item() for each in regressor.predict(input_fn=_homes)]
    np.testing.assert_allclose(probabilities, [0.647, 0.690, 0.577], atol=1e-3)
