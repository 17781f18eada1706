"""The nodes of savers, of summaries, and of graphs that were exported and imported again."""

from __future__ import annotations

from typing import Any


def _saver_def(saver: Any) -> list[Any]:
    made = saver.as_saver_def()
    return [made.filename_tensor_name, made.save_tensor_name, made.restore_op_name, made.sharded]


def _variables(tf: Any) -> None:
    tf.Variable([1.0, 2.0], name="v")
    tf.Variable(3, name="w", use_resource=True)
    tf.get_variable("p", [4, 3], partitioner=tf.fixed_size_partitioner(2))


def saver(tf: Any) -> Any:
    _variables(tf)
    return _saver_def(tf.train.Saver())


def two_savers(tf: Any) -> Any:
    _variables(tf)
    names = {"x": tf.global_variables()[0], "y": tf.global_variables()[1]}
    return [_saver_def(tf.train.Saver(names)), _saver_def(tf.train.Saver(names, name="mine"))]


def saver_that_reshapes(tf: Any) -> Any:
    _variables(tf)
    return _saver_def(tf.train.Saver(reshape=True))


def saver_of_unknown_shape(tf: Any) -> Any:
    tf.Variable(tf.placeholder(tf.float32), validate_shape=False, name="v")
    return [_saver_def(tf.train.Saver()), _saver_def(tf.train.Saver(reshape=True))]


def sharded_saver(tf: Any) -> Any:
    for task in range(2):
        with tf.device(f"/job:ps/task:{task}"):
            tf.Variable([1.0, 2.0], name=f"v{task}")
            tf.Variable(3, name=f"w{task}", use_resource=True)
    return _saver_def(tf.train.Saver(sharded=True))


def sharded_saver_on_one_device(tf: Any) -> Any:
    _variables(tf)
    return _saver_def(tf.train.Saver(sharded=True))


def saver_of_the_first_format(tf: Any) -> Any:
    _variables(tf)
    return _saver_def(tf.train.Saver(write_version=tf.train.SaverDef.V1))


def sharded_saver_of_the_first_format(tf: Any) -> Any:
    _variables(tf)
    return _saver_def(tf.train.Saver(sharded=True, write_version=tf.train.SaverDef.V1))


def imported_in_a_scope(tf: Any) -> Any:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [], name="x")
        v = tf.Variable(2.0, name="v")
        tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * v), [0, x])
        tf.cond(x > 1, lambda: x * v, lambda: x + 1)
        tf.train.Saver()
        message = tf.train.export_meta_graph()
    tf.train.import_meta_graph(message, import_scope="one")
    with tf.name_scope("outer"):
        tf.train.import_meta_graph(message, import_scope="two")
    return [variable.name for variable in tf.global_variables()]


def exported_from_a_scope(tf: Any) -> Any:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        with tf.name_scope("inside"), tf.device("/cpu:0"):
            v = tf.Variable([1.0, 2.0], name="v")
            tf.multiply(x, v, name="y")
        message = tf.train.export_meta_graph(
            graph=graph, export_scope="inside", clear_devices=True, strip_default_attrs=True
        )
    exported = [(node.name, sorted(node.attr)) for node in message.graph_def.node]
    x = tf.placeholder(tf.float32, [2], name="mine")
    tf.train.import_meta_graph(message, input_map={"$unbound_inputs_x": x})
    return [sorted(message.collection_def), exported]


def summaries(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2, 4, 4, 3], name="x")
    with tf.name_scope("layer"):
        tf.summary.scalar("mean of x", tf.reduce_mean(x))
        tf.summary.histogram("h", x, family="family")
        tf.summary.image("image", x, max_outputs=2, collections=["other"])
    tf.summary.audio("sound", tf.reshape(x, [2, -1]), 44100)
    tf.summary.text("words", tf.constant(["a", "b"]))
    tf.summary.tensor_summary("tensor", x, display_name="name", summary_description="described")
    return [tf.summary.merge_all(), tf.summary.merge_all(scope="layer", name="mine")]
