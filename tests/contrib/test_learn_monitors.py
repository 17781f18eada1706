"""`tf.contrib.learn.monitors` and the models of the first programs; as TensorFlow 1.15 has them."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.contrib.learn import models, monitors, old_losses, old_sequences
from penstock.contrib.testing import FakeSummaryWriter


def _run(monitor, steps):
    """Runs steps until the monitor stops it; how many were made."""
    step = tf.assign_add(tf.train.get_or_create_global_step(), 1)
    hook = monitors.RunHookAdapterForMonitors([monitor])
    made = 0
    with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
        while made < steps and not session.should_stop():
            session.run(step)
            made += 1
    return made


class Seen(monitors.EveryN):
    """Which steps are seen."""

    def __init__(self, *args):
        super().__init__(*args)
        self.calls = []

    def every_n_step_begin(self, step):
        self.calls.append(("begin", int(step)))
        return []

    def every_n_step_end(self, step, outputs):
        self.calls.append(("end", int(step)))
        return step == 18

    def every_n_post_step(self, step, session):
        self.calls.append(("post", int(step)))


def test_some_steps_are_seen():
    monitor = Seen(8, 2)
    assert _run(monitor, 50) == 18
    assert [step for kind, step in monitor.calls if kind == "end"] == [1, 2, 10, 18]
    assert monitor.calls[-1] == ("post", 18)


def test_an_unseen_last_step_is_told_at_the_end():
    monitor = Seen(8, 2)
    _run(monitor, 12)
    assert monitor.calls[-2:] == [("post", 10), ("post", 12)]


def test_calls_out_of_order():
    monitor = monitors.BaseMonitor()
    with pytest.raises(ValueError, match="end called without begin"):
        monitor.end()
    monitor.begin(max_steps=5)
    with pytest.raises(ValueError, match="begin called twice"):
        monitor.begin()
    with pytest.raises(ValueError, match="Invalid step 6"):
        monitor.step_begin(6)
    monitor.step_begin(3)
    with pytest.raises(ValueError, match="step_end expected"):
        monitor.step_end(4, {})
    with pytest.raises(ValueError, match="Invalid epoch"):
        monitor.epoch_begin(-1)


def test_names_of_tensors():
    tf.split(tf.ones([4]), 2, name="two")
    assert monitors._as_graph_element("two:1").name == "two:1"
    with pytest.raises(ValueError, match="Name two is ambiguous"):
        monitors._as_graph_element("two")


@pytest.mark.parametrize("settings", [{"num_steps": 4}, {"last_step": 4}])
def test_stopping_at_a_step(settings):
    assert _run(monitors.StopAtStep(**settings), 10) == 4


def test_tensors_are_logged(caplog):
    tf.constant(42.0, name="answer")
    with caplog.at_level("INFO", logger="tensorflow"):
        tf.logging.set_verbosity(tf.logging.INFO)
        _run(monitors.PrintTensor({"it": "answer"}), 1)
    assert "Step 1: it = 42.0" in caplog.text


def test_values_of_a_variable_are_kept():
    tf.Variable(1.5, name="kept")
    monitor = monitors.CaptureVariable("kept:0", every_n=5, first_n=2)
    _run(monitor, 13)
    assert monitor.values == {1: 1.5, 2: 1.5, 7: 1.5, 12: 1.5}


def test_a_loss_that_is_no_number():
    tf.constant(float("nan"), name="loss")
    assert _run(monitors.NanLoss("loss", fail_on_nan_loss=False), 5) == 1
    with pytest.raises(monitors.NanLossDuringTrainingError):
        _run(monitors.NanLoss("loss"), 5)


def test_runs_are_compared():
    tf.add(tf.placeholder(tf.float32, name="fed"), [1.0, 2.0], name="sum")
    dumps = [monitors.GraphDump(), monitors.GraphDump()]
    with tf.Session() as session:
        for dump, fed in zip(dumps, (1.0, 3.0), strict=True):
            dump.begin()
            tensors = {tensor.name: tensor for tensor in dump.step_begin(1)}
            assert list(tensors) == ["sum:0"]
            dump.step_end(1, session.run(tensors, {"fed:0": fed}))
    assert dumps[0].compare(dumps[0], step=1) == (["sum:0"], {})
    matched, different = dumps[0].compare(dumps[1], step=1)
    assert matched == []
    assert different["sum:0"].tolist() == [-2, -2]


def test_summaries_and_rates_are_written(tmp_path):
    writer = FakeSummaryWriter(str(tmp_path), tf.get_default_graph())
    summary = tf.summary.scalar("value", tf.constant(2.0))
    _run(monitors.SummarySaver(summary, save_steps=3, summary_writer=writer), 7)
    assert sorted(writer.summaries) == [1, 4, 7]


def test_checkpoints_are_saved(tmp_path):
    tf.Variable(1.0)
    tf.train.get_or_create_global_step()
    step = tf.assign_add(tf.train.get_global_step(), 1)
    initialized = tf.global_variables_initializer()
    scaffold = tf.train.Scaffold().finalize()
    saver = monitors.CheckpointSaver(str(tmp_path), save_steps=4, scaffold=scaffold)
    with pytest.raises(ValueError, match="Either save_steps or save_secs"):
        monitors.CheckpointSaver(str(tmp_path))
    with tf.Session() as session:
        session.run(initialized)
        saver.begin()
        for number in range(1, 7):
            saver.step_begin(number)
            session.run(step)
            saver.step_end(number, {})
            saver.post_step(number, session)
        saver.end(session)
    names = {path.name for path in tmp_path.glob("*.index")}
    assert names == {f"model.ckpt-{number}.index" for number in (1, 5, 6)}
    tf.summary.FileWriterCache.clear()


def test_linear_models_that_begin_with_zeros():
    x = tf.constant(np.ones([4, 3], "f"))
    prediction, loss = models.linear_regression_zero_init(x, tf.constant(np.ones(4, "f")))
    classes, entropy = models.logistic_regression_zero_init(x, tf.constant(np.eye(4, 2, dtype="f")))
    assert [each.op.name for each in tf.global_variables()] == [
        "linear_regression/weights",
        "linear_regression/bias",
        "logistic_regression/weights",
        "logistic_regression/bias",
    ]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(prediction).tolist() == [0, 0, 0, 0]
        assert session.run(loss) == 1
        assert (session.run(classes) == 0.5).all()
        assert session.run(entropy) > 0


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("attention", [None, 2])
def test_recurrent_models(bidirectional, attention):
    model = models.get_rnn_model(
        rnn_size=4,
        cell_type="gru",
        num_layers=1,
        input_op_fn=lambda x: tf.unstack(x, axis=1),
        bidirectional=bidirectional,
        target_predictor_fn=lambda state, labels: state,
        sequence_length=None,
        initial_state=None,
        attn_length=attention,
        attn_size=4,
        attn_vec_size=3,
    )
    state = model(tf.ones([2, 3, 5]), None)
    size = 4 if attention is None else 4 + 4 + 4 * attention
    assert state.shape == [2, 2 * size if bidirectional else size]
    if bidirectional:
        assert {v.op.name.split("/")[0] for v in tf.trainable_variables()} == {
            "BiRNN_FW",
            "BiRNN_BW",
        }


def test_sequences_to_sequences():
    steps, fed, expected = old_sequences.seq2seq_inputs(
        tf.ones([2, 3, 4]), tf.ones([2, 5, 4]), 3, 5
    )
    assert (len(steps), len(fed), len(expected)) == (3, 6, 6)
    outputs, _, sampled, _ = old_sequences.rnn_seq2seq(steps, fed, tf.nn.rnn_cell.GRUCell(4))
    prediction, loss = old_sequences.sequence_classifier(outputs, expected, sampled)
    assert prediction.shape == [2, 6, 4]
    assert loss.op.name == "sequence_classifier/sequence_loss"
    embedded = old_losses.categorical_variable(tf.constant([[0, 1], [1, 2]]), 3, 4, "words")
    assert embedded.shape == [2, 2, 4]
