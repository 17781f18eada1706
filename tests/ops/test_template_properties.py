"""What a template tells about its scope and its variables."""

import penstock as tf
from penstock.internal_paths.template_functions import _skip_common_stack_elements


def _with_counter():
    tf.get_variable("count", [], trainable=False)
    return tf.get_variable("w", [2])


def test_variables_and_scope():
    with tf.Graph().as_default():
        template = tf.make_template("part", _with_counter, create_scope_now_=True)
        later = tf.make_template("later", _with_counter)
        assert (template.variable_scope_name, later.variable_scope_name) == ("part/", None)
        assert template() is template()
        assert [v.name for v in template.non_trainable_weights] == ["part/count:0"]
        assert [v.name for v in template.trainable_weights] == ["part/w:0"]


def test_frames_behind_the_shared_ones():
    assert _skip_common_stack_elements(["a", "b", "c"], ["a", "x"]) == ["b", "c"]
    assert _skip_common_stack_elements(["a", "b"], ["a", "b"]) == ["b"]
