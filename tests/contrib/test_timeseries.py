"""`tf.contrib.timeseries`; numbers are TensorFlow 1.15's, for the same variables."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.contrib import timeseries
from penstock.contrib.timeseries import (
    continuations,
    input_statistics,
    matrices,
    numpy_series,
    readers,
    state_tables,
)
from penstock.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from penstock.contrib.timeseries.state_space.filtering_postprocessor import (
    StateInterpolatingAnomalyDetector,
)
from penstock.contrib.timeseries.state_space.level_trend import AdderStateSpaceModel
from penstock.contrib.timeseries.state_space.periodic import (
    CycleStateSpaceModel,
    ResolutionCycleModel,
)
from penstock.contrib.timeseries.state_space.structural_ensemble import (
    MultiResolutionStructuralEnsemble,
)
from penstock.testing import series_models

CONFIGURATION = StateSpaceModelConfiguration(dtype=tf.float64)
TIMES = np.array([[0, 1, 2, 4, 5, 9], [3, 4, 6, 7, 11, 40]])


@pytest.fixture
def session():
    with tf.Session() as made:
        yield made


def _near(found, expected):
    np.testing.assert_allclose(found, expected, atol=2e-4)


def _load_variables(session):
    """The same numbers for the same names, as in the runs whose results are compared."""
    session.run(tf.global_variables_initializer())
    for index, variable in enumerate(sorted(tf.global_variables(), key=lambda each: each.name)):
        if variable.dtype.base_dtype.is_floating:
            size = variable.shape.num_elements()
            values = (np.sin(np.arange(size) * 0.7 + index) * 0.3).reshape(variable.shape.as_list())
            variable.load(values.astype(variable.dtype.base_dtype.as_numpy_dtype), session)


# Models -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "losses", "means", "variances"),
    [
        (
            lambda: AdderStateSpaceModel(configuration=CONFIGURATION),
            [2.7862, 2.6815],
            [-23.837, -24.5143, -29.9326],
            [12905.2813, 14087.8066, 26239.34],
        ),
        (
            lambda: ResolutionCycleModel(5, 12.3, configuration=CONFIGURATION),
            [2.073, 1.9666],
            [-0.0795, 1.3845, 0.6374],
            [18.0702, 17.5649, 21.8495],
        ),
        (
            lambda: MultiResolutionStructuralEnsemble(
                5, 2, 0, [7, 10.5], configuration=CONFIGURATION
            ),
            [3.5151, 3.0157],
            [-20.381, -22.0063, -27.597],
            [18956.162, 20777.8981, 38103.2658],
        ),
    ],
)
def test_losses_and_predictions_of_state_space_models(make, losses, means, variances, session):
    values = np.random.RandomState(1).randn(2, 6, 1)
    model = make()
    model.initialize_graph()
    features = {"times": tf.constant(TIMES), "values": tf.constant(values)}
    trained = model.define_loss(features, tf.estimator.ModeKeys.TRAIN)
    evaluated = model.define_loss(features, tf.estimator.ModeKeys.EVAL)
    later = tf.constant([[41, 42, 50], [43, 44, 47]], tf.int64)
    predicted = model.predict({"times": later, "start_tuple": evaluated.end_state})
    _load_variables(session)
    _near(session.run([trained.loss, evaluated.loss]), losses)
    found = session.run(predicted)
    np.testing.assert_allclose(found["mean"][0, :, 0], means, rtol=1e-4, atol=2e-4)
    np.testing.assert_allclose(found["covariance"][0, :, 0, 0], variances, rtol=1e-4)


def test_a_cycle_of_whole_steps_is_the_plain_one(session):
    powers = tf.constant([0, 1, 4, 12], tf.int64)
    for model in (CycleStateSpaceModel(5), ResolutionCycleModel(5, 5)):
        model.initialize_graph()
        tf.get_variable_scope().reuse_variables()
        transitions = session.run(model.transition_to_powers(powers))
        np.testing.assert_allclose(
            transitions[1], [[-1] * 4, [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
        )
        np.testing.assert_allclose(transitions[3], transitions[1] @ transitions[1], atol=1e-5)


def test_noise_of_several_steps_is_a_sum(session):
    model = AdderStateSpaceModel(configuration=CONFIGURATION)
    model.initialize_graph()
    _load_variables(session)
    steps = tf.constant([0, 1, 3], tf.int64)
    plain = super(AdderStateSpaceModel, model).transition_power_noise_accumulator(steps)
    found, expected = session.run([model.transition_power_noise_accumulator(steps), plain])
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_anomalies_hardly_change_the_state(session):
    values = np.random.RandomState(0).randn(2, 6, 1)
    values[0, 3] = 30
    model = AdderStateSpaceModel(
        configuration=CONFIGURATION._replace(
            filtering_postprocessor=StateInterpolatingAnomalyDetector(
                anomaly_prior_probability=0.02
            ),
            trainable_start_state=True,
            static_unrolling_window_size_threshold=8,
        )
    )
    model.initialize_graph()
    times = tf.constant(np.arange(12).reshape(2, 6))
    outputs = model.define_loss({"times": times, "values": tf.constant(values)}, "eval")
    assert not [op for op in tf.get_default_graph().get_operations() if op.type == "Enter"]
    _load_variables(session)
    _near(session.run(outputs.loss), 3.1666)
    scores = session.run(outputs.predictions["anomaly_score"])
    _near(scores[0], [-4.8306, -3.5375, -3.2014, 43.1249, -3.3044, -4.8628])


def test_series_are_drawn_from_a_model(session):
    model = AdderStateSpaceModel(configuration=CONFIGURATION)
    model.initialize_graph()
    session.run(tf.global_variables_initializer())
    with session.as_default():
        drawn = [
            model.generate(2, 5, model_parameters=model.random_model_parameters(seed=3), seed=5)
            for _ in range(2)
        ]
    assert drawn[0]["values"].shape == (2, 5, 1)
    np.testing.assert_array_equal(drawn[0]["values"], drawn[1]["values"])


def test_models_have_to_be_initialized():
    with pytest.raises(ValueError, match="require initialize_graph"):
        AdderStateSpaceModel().define_loss({"times": TIMES, "values": TIMES}, "train")


# Matrices, statistics, tables ---------------------------------------------------------------------


def test_powers_of_matrices(session):
    batch = np.random.RandomState(0).randn(4, 3, 3)
    found = session.run(matrices.batch_matrix_pow(batch, [3, 0, 7, 1]))
    expected = [np.linalg.matrix_power(m, n) for m, n in zip(batch, [3, 0, 7, 1], strict=True)]
    np.testing.assert_allclose(found, expected)


def test_products_of_a_batch_and_a_matrix(session):
    batch, matrix = np.random.RandomState(0).randn(4, 3, 2), np.random.RandomState(1).randn(2, 5)
    found = session.run(matrices.batch_times_matrix(batch, matrix))
    np.testing.assert_allclose(found, batch @ matrix)
    found = session.run(matrices.matrix_times_batch(matrix, batch, adj_x=True, adj_y=True))
    np.testing.assert_allclose(found, matrix.T @ batch.transpose(0, 2, 1))


def test_statistics_are_gathered_from_batches(session):
    random = np.random.RandomState(0)
    generator = input_statistics.InputStatisticsFromMiniBatch(2, tf.float64, 3)
    times = tf.placeholder(tf.int64, [None, None])
    values = tf.placeholder(tf.float64, [None, None, 2])
    statistics = generator.initialize_graph({"times": times, "values": values})
    session.run(tf.global_variables_initializer())
    for batch, start, count in (
        ([[4, 5, 6, 9], [7, 8, 9, 10]], 4, 5),
        ([[2, 3, 4]], 2, 7),
        ([[12, 13, 14]], 2, 11),
    ):
        fed = {times: batch, values: random.rand(len(batch), len(batch[0]), 2)}
        found = session.run(statistics, fed)
        assert (found.start_time, found.total_observation_count) == (start, count)
    _near(found.overall_feature_moments.mean, [0.4934, 0.685])
    _near(found.series_start_moments.variance, [0.1704, 0.0008])


def test_tables_of_structures(session):
    table = state_tables.TupleOfTensorsLookup(
        tf.int64, (tf.constant([[1.0, 2.0]]), tf.constant(3)), -1, -2, "states"
    )
    rows = tf.constant([[[[5.0, 6.0]], [[7.0, 8.0]]]])
    session.run(table.insert([[1, 2]], (rows, tf.constant([[9, 10]]))))
    found = session.run(table.lookup(tf.constant([2, 5], tf.int64)))
    assert found[0].tolist() == [[[7, 8]], [[1, 2]]]
    assert found[1].tolist() == [10, 3]


# Inputs -------------------------------------------------------------------------------------------


def test_arrays_get_their_dimensions():
    made = numpy_series._canonicalize_numpy_data({"times": [1, 2], "values": [3.0, 4.0]}, True)
    assert made["times"].shape == (1, 2)
    assert made["values"].shape == (1, 2, 1)
    with pytest.raises(ValueError, match="All features must have their shapes prefixed"):
        numpy_series._canonicalize_numpy_data({"times": [1, 2], "values": [3.0]}, True)
    pair = {"times": [[1, 2]] * 2, "values": [[[1.0], [2.0]]] * 2}
    with pytest.raises(ValueError, match="Got batch input"):
        numpy_series._canonicalize_numpy_data(pair, True)


def test_times_that_go_on():
    known = {"times": np.array([[1, 2, 3], [4, 5, 6]])}
    go_on = continuations.canonicalize_times_or_steps_from_output
    assert go_on(None, 2, known).tolist() == [[4, 5], [7, 8]]
    with pytest.raises(ValueError, match="One of `steps` and `times`"):
        go_on(None, None, known)
    with pytest.raises(ValueError, match="Prediction times must be after"):
        go_on([[4, 5], [6, 7]], None, known)


def _reader(kind, folder):
    values = np.stack([np.arange(20) * 2.0, np.arange(20) * 3.0], 1)
    if kind == "numpy":
        return timeseries.NumpyReader({"times": np.arange(20), "values": values})
    path = str(folder / kind)
    if kind == "csv":
        lines = [f"{time},{a},{b}\n" for time, (a, b) in enumerate(values)]
        (folder / kind).write_text("".join(["header\n", *lines]))
        names = ("times", "values", "values")
        return timeseries.CSVReader([path], column_names=names, skip_header_lines=1)
    with tf.io.TFRecordWriter(path) as writer:
        for time, row in enumerate(values):
            example = tf.train.Example()
            example.features.feature["times"].int64_list.value.append(time)
            example.features.feature["values"].float_list.value.extend(row)
            writer.write(example.SerializeToString())
    specs = {
        "times": tf.FixedLenFeature([], tf.int64),
        "values": tf.FixedLenFeature([2], tf.float32),
    }
    return readers.TFExampleReader([path], specs)


@pytest.mark.parametrize("kind", ["numpy", "csv", "examples"])
def test_whole_series_and_windows_of_it(kind, tmp_path, session):
    reader = _reader(kind, tmp_path)
    whole, _ = timeseries.WholeDatasetInputFn(reader)()
    windows, _ = timeseries.RandomWindowInputFn(reader, 5, 4, num_threads=1)()
    assert windows["values"].shape == [4, 5, 2]
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coordinator)
    found = session.run(whole)
    assert found["times"].tolist() == [list(range(20))]
    np.testing.assert_array_equal(found["values"][0, :, 1], np.arange(20) * 3)
    found = session.run(windows)
    assert (np.diff(found["times"], axis=1) == 1).all()
    np.testing.assert_array_equal(found["values"][..., 0], found["times"] * 2)
    coordinator.request_stop()
    session.close()
    coordinator.join(threads)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"column_names": ("times", "x")}, "'values' is a required column"),
        ({"column_names": ("times", "times", "values")}, "Got more than one times column"),
        ({"column_dtypes": (tf.int64,)}, "the length of column_dtypes must match"),
    ],
)
def test_columns_are_checked(settings, problem):
    with pytest.raises(ValueError, match=problem):
        timeseries.CSVReader(["file"], **settings)


def test_series_shorter_than_a_window():
    reader = timeseries.NumpyReader({"times": np.arange(3), "values": np.arange(3.0)})
    with pytest.raises(ValueError, match="windows of size 5, but only 3 records"):
        timeseries.RandomWindowInputFn(reader, 5, 2)


# Estimators ---------------------------------------------------------------------------------------


def _trained(estimator, window):
    times = np.arange(60)
    reader = timeseries.NumpyReader({"times": times, "values": np.sin(times * 0.3) + times / 100})
    estimator.train(timeseries.RandomWindowInputFn(reader, window, 4, num_threads=1), steps=2)
    return estimator.evaluate(timeseries.WholeDatasetInputFn(reader), steps=1)


def _served(estimator, folder):
    path = estimator.export_saved_model(
        str(folder), estimator.build_raw_serving_input_receiver_fn()
    )
    with tf.Graph().as_default(), tf.Session() as session:
        signatures = tf.saved_model.loader.load(session, ["serve"], tf.compat.as_str(path))
        utils = timeseries.saved_model_utils
        features = {"times": np.arange(20), "values": np.sin(np.arange(20.0))}
        state = utils.cold_start_filter(signatures, session, features)
        features["times"] += 20
        state = utils.filter_continuation(state, signatures, session, features)
        return utils.predict_continuation(state, signatures, session, steps=3)


@pytest.mark.parametrize("loss", ["normal_likelihood_loss", "squared_loss"])
def test_an_autoregressive_estimator(loss, tmp_path):
    estimator = timeseries.ARRegressor(20, 6, 4, num_features=1, loss=loss)
    evaluation = _trained(estimator, 10)
    assert evaluation["mean"].shape == (1, 52, 1)
    assert evaluation["times"][0, -1] == 59
    assert [part.shape for part in evaluation["start_tuple"]] == [(1, 6), (1, 6, 1), (1, 6, 0)]
    input_fn = timeseries.predict_continuation_input_fn(evaluation, steps=7)
    (predicted,) = estimator.predict(input_fn)
    assert predicted["mean"].shape == (7, 1)
    assert predicted["times"].tolist() == list(range(60, 67))
    assert _served(estimator, tmp_path)["mean"].shape == (1, 3, 1)


@pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices")  # TensorFlow's, too
def test_an_estimator_of_a_structural_ensemble():
    estimator = timeseries.StructuralEnsembleRegressor(
        periodicities=[20], num_features=1, cycle_num_latent_values=3, moving_average_order=1
    )
    evaluation = _trained(estimator, 16)
    assert np.isfinite(evaluation["loss"])
    input_fn = timeseries.predict_continuation_input_fn(evaluation, times=[61, 65])
    (predicted,) = estimator.predict(input_fn)
    assert predicted["covariance"].shape == (2, 1, 1)


def test_features_are_checked():
    estimator = timeseries.ARRegressor(20, 10, 5, num_features=1)

    def train(size, **others):
        features = {"times": np.zeros([1, size]), "values": np.zeros([1, size, 1]), **others}
        estimator.train(lambda: (features, None))

    with pytest.raises(ValueError, match=r"got rank 1 for feature 'other'"):
        train(15, other=np.zeros([3]))
    with pytest.raises(ValueError, match=r"match the 'times' feature \(got shape \(1, 3\)"):
        train(15, other=np.zeros([1, 3]))
    with pytest.raises(ValueError, match=r"expects feature 'times' to have shape"):
        train(13)
    with pytest.raises(ValueError, match="anomaly_prior_probability is required"):
        timeseries.ARRegressor(20, 10, 5, 1, anomaly_distribution="cauchy")


class SharedChecksTest(tf.test.TestCase):
    """The checks that tests of state space models share find that models are as they should be."""

    def test_transitions_and_noise(self):
        model = ResolutionCycleModel(5, 7, configuration=CONFIGURATION)
        series_models.transition_power_test_template(self, model, 9)
        series_models.noise_accumulator_test_template(self, model, 9)

    def test_a_wrong_model_is_found(self):
        class Wrong(CycleStateSpaceModel):
            def transition_to_powers(self, powers):
                return super().transition_to_powers(powers + tf.cast(powers > 1, powers.dtype))

        with pytest.raises(AssertionError):
            series_models.transition_power_test_template(self, Wrong(5), 4)

    @pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices")
    def test_a_model_is_trained_on_its_own_series(self):
        def generate(model):
            drawn = model.random_model_parameters(seed=2)
            series = model.generate(1, 20, model_parameters=drawn)
            return timeseries.NumpyReader(series), drawn

        series_models.parameter_recovery_dry_run(generate, AdderStateSpaceModel(), seed=1)
