"""`tf.contrib.framework`: Python functions of structures, matrices under another vocabulary."""

import numpy as np
import pytest

import penstock as tf

framework = tf.contrib.framework


def test_py_func_of_structures():
    result = framework.py_func(
        lambda x, scale=None: {"sum": x[0] + x[1], "scaled": (x[0] * scale,)},
        args=[(tf.constant(1.0), tf.constant(2.0))],
        kwargs={"scale": tf.constant(5.0)},
        output_types={"sum": tf.float32, "scaled": (tf.float32,)},
        output_shapes={"sum": [], "scaled": ([],)},
    )
    assert result["scaled"][0].shape.as_list() == []
    with tf.Session() as sess:
        assert sess.run(result) == {"sum": 3.0, "scaled": (5.0,)}


def test_py_func_asks_functions_for_types():
    result = framework.py_func(
        lambda x: x + 1, args=[tf.constant(1)], output_types=lambda x: x.dtype
    )
    with tf.Session() as sess:
        assert sess.run(result) == 2


def test_py_func_refuses():
    with pytest.raises(TypeError, match="args must be list"):
        framework.py_func(lambda x: x, args=1, output_types=tf.int32)
    with pytest.raises(TypeError, match="kwargs must be dict"):
        framework.py_func(lambda x: x, kwargs=[1], output_types=tf.int32)


def test_matrices_of_other_vocabularies(tmp_path):
    (tmp_path / "old").write_text("a\nb\nc\n")
    (tmp_path / "new").write_text("c\nq\na\n")
    files = {"old": str(tmp_path / "old"), "new": str(tmp_path / "new")}
    tf.get_variable("w", initializer=np.arange(9, dtype=np.float32).reshape(3, 3))
    tf.get_variable("b", initializer=np.arange(3, dtype=np.float32).reshape(3, 1))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "model"))
    tf.reset_default_graph()
    bias = framework.load_linear_multiclass_bias_initializer(
        path, "b", 3, files["old"], files["new"], num_class_oov_buckets=1
    )
    slot = framework.load_variable_slot_initializer(
        path, "w", None, 3, 3, old_row_vocab_file=files["old"], new_row_vocab_file=files["new"]
    )
    variables = [
        tf.get_variable("bias", [4, 1], initializer=bias),
        tf.get_variable("slot", [3, 3], initializer=slot),
    ]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        biases, rows = sess.run(variables)
    assert biases.ravel().tolist() == [2, 0, 0, 0]
    assert rows.tolist() == [[6, 7, 8], [0, 0, 0], [0, 1, 2]]


def test_checkpoints_by_the_names_of_arguments(tmp_path):
    framework = tf.contrib.framework
    tf.get_variable("v", initializer=[1.0, 2.0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(tmp_path / "model"))
    assert framework.list_variables(checkpoint_dir=str(tmp_path)) == [("v", [2])]
    assert framework.load_variable(checkpoint_dir=str(tmp_path), name="v").tolist() == [1.0, 2.0]
    assert framework.load_checkpoint(filepattern=str(tmp_path / "model")).has_tensor("v")
    with tf.Graph().as_default(), tf.Session() as session:
        other = tf.get_variable("w", [2])
        framework.init_from_checkpoint(checkpoint_dir=str(tmp_path), assignment_map={"v": other})
        session.run(other.initializer)
        assert session.run(other).tolist() == [1.0, 2.0]
