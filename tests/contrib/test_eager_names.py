"""`tf.contrib.eager` in a graph: metrics, variables, savers; what needs eager execution says so."""

import pytest

import penstock as tf

tfe = tf.contrib.eager


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def test_a_mean_over_batches():
    mean = tfe.metrics.Mean("error rate")
    batch = tf.placeholder(tf.float32, [None])
    update, result = mean(batch), mean.result(write_summary=False)
    assert mean.name == "error rate"
    assert [v.name for v in mean.variables] == ["error_rate/numer:0", "error_rate/denom:0"]
    assert tf.get_collection(tf.GraphKeys.METRIC_VARIABLES) == mean.variables
    assert not tf.global_variables()
    with tf.Session() as sess:
        sess.run(mean.init_variables())
        for values in ([1.0, 3.0], [8.0]):
            assert sess.run(update, {batch: values}) == sum(values)
        assert sess.run(result) == 4.0
        sess.run(mean.init_variables())
        sess.run(update, {batch: [7.0]})
        assert sess.run(result) == 7.0


@pytest.mark.parametrize(
    ("metric", "labels", "predictions", "expected"),
    [
        (tfe.metrics.Accuracy, [1, 2, 3, 4], [0, 2, 3, 4], 0.75),
        (tfe.metrics.SparseAccuracy, [0, 1], [[0.9, 0.1], [0.8, 0.2]], 0.5),
        (tfe.metrics.CategoricalAccuracy, [[1, 0], [0, 1]], [[0.9, 0.1], [0.2, 0.8]], 1.0),
        (lambda: tfe.metrics.BinaryAccuracy(0.5), [1, 0, 0, 1], [0.6, 0.4, 0.7, 0.1], 0.5),
    ],
)
def test_accuracies(metric, labels, predictions, expected):
    made = metric()
    update = made(tf.constant(labels), tf.constant(predictions))
    with tf.Session() as sess:
        sess.run(made.init_variables())
        sess.run(update)
        assert sess.run(made.result(write_summary=False)) == expected


def test_an_own_metric_and_weights():
    class Largest(tfe.metrics.Metric):
        def build(self, *args, **kwargs):
            self.largest = self.add_variable("largest", (), tf.float32, tf.zeros_initializer)

        def call(self, values):
            self.largest.assign(tf.maximum(self.largest, tf.reduce_max(values)))
            return values

        def result(self):
            return tf.identity(self.largest)

    largest, mean = Largest(), tfe.metrics.Mean(use_global_variables=True)
    updates = [largest([1.0, 5.0, 2.0]), mean([1.0, 3.0], weights=[1.0, 0.0])]
    assert tf.global_variables() == mean.variables
    with pytest.raises(RuntimeError, match="except in build"):
        largest.add_variable("more")
    with pytest.raises(TypeError, match="same type"):
        largest.aggregate([mean])
    with tf.Session() as sess:
        sess.run([largest.init_variables(), mean.init_variables()])
        sess.run(updates)
        assert sess.run([largest.value(), mean.result(write_summary=False)]) == [5.0, 1.0]


def test_a_saver_and_a_variable(tmp_path):
    variable = tfe.Variable(3.0, name="v")
    saver = tfe.Saver([variable])
    with tf.Session() as sess:
        sess.run(variable.initializer)
        path = saver.save(str(tmp_path / "saved"), global_step=2)
        assert path.endswith("saved-2")
        sess.run(variable.assign(5.0))
        saver.restore(path)
        assert sess.run(variable) == 3.0


def test_the_mode_is_that_of_graphs():
    assert not tfe.executing_eagerly() and not tfe.in_eager_mode()


def test_functions_that_differentiate_build_nodes():
    with tf.Session() as sess:
        (gradient,) = tfe.gradients_function(lambda x: x * x)(3.0)
        assert sess.run(gradient) == 6.0
        weight = tfe.Variable(2.0)
        sess.run(weight.initializer)
        value, pairs = tfe.implicit_value_and_gradients(lambda: weight * weight)()
        assert sess.run([value, pairs[0][0]]) == [4.0, 4.0]
