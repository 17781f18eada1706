"""What a template tells about its scope and its variables."""

import pytest

import penstock as tf
from penstock.internal_paths.template_functions import (
    _skip_common_stack_elements,
    make_template_internal,
)


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


def test_variables_belong_to_the_innermost_template():
    def outer():
        return [tf.make_template("inner", _with_counter)() for _ in range(2)]

    with tf.Graph().as_default():
        template = tf.make_template("outer", outer)
        template()
        owned = template._checkpoint_dependencies
        assert [name for name, _ in owned] == ["inner", "inner_1"]
        assert [name for name, _ in owned[1].ref._checkpoint_dependencies] == ["count", "w"]


def test_errors_tell_where_the_template_was_made():
    names = iter("ab")
    with tf.Graph().as_default():
        template = tf.make_template("part", lambda: tf.get_variable(next(names), []))
        template()
        with pytest.raises(ValueError, match=r"does not exist(.|\n)*defined at:\n.*\.py"):
            template()


def test_a_template_of_a_graph_function():
    with tf.Graph().as_default(), tf.Session() as session:
        template = make_template_internal(
            "part",
            lambda x: x * tf.get_variable("w", [], initializer=tf.ones_initializer()),
            create_graph_function_=True,
        )
        sums = [template(tf.constant(2.0)), template(tf.constant(3.0))]
        assert [variable.name for variable in template.variables] == ["part/w:0"]
        session.run(template.variables[0].initializer)
        assert session.run(sums) == [2, 3]
