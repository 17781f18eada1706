"""Objects that come to be in unusual places: inside functions, templates, or after a restore."""

import pytest

import penstock as tf
from penstock.eager.context import eager_mode
from penstock.ops.templates import capture_dependencies
from penstock.train.tracking import AutoTrackable, NotTrackable, list_objects


def test_a_checkpoint_that_meets_an_object_it_cannot_keep_is_refused(tmp_path):
    class Before(NotTrackable, AutoTrackable):
        pass

    class After(AutoTrackable, NotTrackable):
        pass

    for kind in (Before, After):
        checkpoint = tf.train.Checkpoint(x=kind())
        with tf.Session(), pytest.raises(NotImplementedError, match="object-based saving"):
            checkpoint.save(str(tmp_path / "model"))


def test_writing_inside_a_function_saves_the_values_of_each_call(tmp_path):
    prefix = str(tmp_path / "sub" / "model")
    written = tf.train.Checkpoint(v=tf.Variable(1.0, use_resource=True))
    read = tf.train.Checkpoint(v=tf.Variable(0.0, use_resource=True))

    @tf.function
    def write():
        return written.write(prefix)

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = write()
        assert session.run(path) == prefix.encode()
        read.restore(prefix).run_restore_ops(session)
        assert session.run(read.v) == 1.0
        session.run(written.v.assign(3.0))
        session.run(path)
        read.restore(prefix).run_restore_ops(session)
        assert session.run(read.v) == 3.0


def test_a_variable_made_while_a_function_is_traced_is_restored(tmp_path):
    class Owner(AutoTrackable):
        v = None

        @tf.function
        def __call__(self):
            if self.v is None:
                self.v = tf.Variable(0.0, use_resource=True)
            return self.v * 2.0

    saved, loaded = Owner(), Owner()
    with tf.Session() as session:
        saved()
        session.run(saved.v.assign(5.0))
        path = tf.train.Checkpoint(owner=saved).save(str(tmp_path / "model"), session=session)
        status = tf.train.Checkpoint(owner=loaded).restore(path)
        doubled = loaded()
        status.assert_consumed().run_restore_ops(session)
        assert session.run(doubled) == 10.0


def test_layers_added_after_a_restore_are_restored(tmp_path):
    def model():
        return tf.keras.Sequential()

    saved = model()
    saved.add(tf.keras.layers.Dense(2))
    saved.add(tf.keras.layers.Dense(3))
    saved(tf.ones([1, 1]))
    loaded = model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(saved.layers[1].bias.assign([1.0, 2.0, 3.0]))
        path = tf.train.Checkpoint(model=saved).save(str(tmp_path / "model"), session=session)
        status = tf.train.Checkpoint(model=loaded).restore(path)
        for units in (2, 3):
            loaded.add(tf.keras.layers.Dense(units))
            loaded(tf.ones([1, 1]))
        status.run_restore_ops(session)
        assert session.run(loaded.layers[1].bias).tolist() == [1.0, 2.0, 3.0]


def test_an_object_inside_a_template_owns_what_it_makes_in_its_scope():
    class Manual(AutoTrackable):
        def __call__(self):
            with tf.variable_scope("manual") as scope:
                self.variable_scope = scope
                with capture_dependencies(template=self):
                    return tf.get_variable("inside", shape=[])

    def build():
        outer = tf.get_variable("outer", shape=[])
        manual = Manual()
        return outer, manual, manual()

    template = tf.make_template("t", build)
    outer, manual, inside = template()
    assert [(name, ref) for name, ref in manual._checkpoint_dependencies] == [("inside", inside)]
    assert [name for name, _ in template._checkpoint_dependencies] == ["outer", "manual"]
    found = list_objects(template)
    assert {id(each) for each in found} == {id(each) for each in (template, outer, manual, inside)}


def test_a_checkpoint_by_name_may_lack_values_in_eager_mode(tmp_path):
    prefix = str(tmp_path / "by_name")
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=2.0)
        session.run(v.initializer)
        tf.train.Saver([v]).save(session, prefix)
    with eager_mode():
        known = tf.Variable(0.0, name="v", use_resource=True)
        other = tf.Variable(7.0, name="other", use_resource=True)
        status = tf.train.Checkpoint(known=known, other=other).restore(prefix)
        assert (known.numpy(), other.numpy()) == (2.0, 7.0)
        with pytest.raises(AssertionError, match="not restored"):
            status.assert_existing_objects_matched()


def test_python_state_is_restored_without_new_nodes(tmp_path):
    class State(tf.train.experimental.PythonState):
        def __init__(self):
            self.value = b"first"

        def serialize(self):
            return self.value

        def deserialize(self, string_value):
            self.value = string_value

    with tf.Graph().as_default() as graph, tf.Session():
        checkpoint = tf.train.Checkpoint(state=State())
        path = checkpoint.save(str(tmp_path / "ckpt"))
        checkpoint.restore(path)
        graph.finalize()
        checkpoint.state.value = b"second"
        checkpoint.restore(path)
        assert checkpoint.state.value == b"first"
