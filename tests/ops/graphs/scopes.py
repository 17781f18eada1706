"""Names, devices, control inputs and colocation, as `with` blocks give them to nodes."""

from __future__ import annotations

from typing import Any

from tests.ops.graphs.snapshot import error_of


def unique_names(tf: Any) -> Any:
    graph = tf.get_default_graph()
    made = [tf.constant(1.0, name="a") for _ in range(3)]
    made += [tf.constant(1.0, name="A"), tf.constant(1.0, name="a_1"), tf.constant(1.0, name="a")]
    made += [tf.constant(1.0), tf.no_op(), tf.no_op(name="x/y"), tf.no_op(name="x/y")]
    made += [graph.unique_name("a"), graph.unique_name("a", mark_as_used=False)]
    made += [graph.unique_name("a"), graph.unique_name("x"), graph.unique_name("x/y")]
    return made


def name_scopes(tf: Any) -> Any:
    made: list[Any] = []
    with tf.name_scope("outer") as outer:
        made += [outer, tf.constant(1.0, name="c")]
        with tf.name_scope("inner") as inner:
            made += [inner, tf.constant(1.0, name="c"), tf.get_default_graph().get_name_scope()]
        with tf.name_scope("inner") as again:
            made += [again, tf.constant(1.0, name="c")]
        with tf.name_scope(outer):
            made += [tf.constant(1.0, name="d")]
        with tf.name_scope(None):
            made += [tf.constant(1.0, name="root")]
        with tf.name_scope(""):
            made += [tf.constant(1.0, name="root")]
    with tf.name_scope("outer") as second:
        made += [second, tf.constant(1.0, name="c")]
    with tf.name_scope(None, "default", [made[1]]) as default:
        made += [default]
    with tf.name_scope("given", "default") as given:
        made += [given]
    made += [error_of(lambda: tf.name_scope("bad name").__enter__())]
    made += [error_of(lambda: tf.constant(1.0, name="bad name"))]
    made += [error_of(lambda: tf.constant(1.0, name="_leading"))]
    with tf.name_scope("ok"):
        made += [error_of(lambda: tf.name_scope("_nested").__enter__())]
    made += [error_of(lambda: tf.name_scope(5))]
    return made


def constants_inside_ops(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    return [
        x + 1.0,
        2 * x,
        x - 1,
        1 / x,
        x / 2,
        -x,
        abs(x),
        x**2,
        x > 0,
        x <= 1.0,
        tf.add(x, 1.0),
        tf.multiply(x, 2.0, name="twice"),
        tf.matmul(x, [[1.0], [2.0], [3.0]]),
        tf.reduce_sum(x),
        tf.reduce_mean(x, 1),
        tf.reduce_max(x, axis=[0, 1], keepdims=True),
        tf.reshape(x, [-1]),
        tf.transpose(x),
        tf.concat([x, x], 0),
        tf.stack([x, x]),
        tf.expand_dims(x, 0),
        tf.cast(x, tf.int32),
        tf.one_hot([1, 2], 3),
        x[0],
        x[0, 1:],
        x[..., tf.newaxis],
        tf.split(x, 3, axis=1),
        tf.unstack(x),
        tf.zeros([2, 2]),
        tf.ones_like(x),
        tf.zeros_like(x),
        tf.fill([2], 1.0),
        tf.range(3),
        tf.tile(x, [1, 2]),
        tf.gather(x, [0]),
        tf.argmax(x, 1),
        tf.equal(x, 0.0),
        tf.where(x > 0, x, -x),
        tf.clip_by_value(x, 0.0, 1.0),
        tf.square(x),
        tf.nn.softmax(x),
        tf.nn.relu(x),
        tf.shape(x),
        tf.convert_to_tensor([x[0, 0], 1.0]),
    ]


def control_dependencies(tf: Any) -> Any:
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
    made: list[Any] = []
    with tf.control_dependencies([a]):
        c = tf.constant(3.0, name="c")
        d = tf.identity(c, name="d")
        e = tf.identity(b, name="e")
        with tf.control_dependencies([b, c]):
            made += [tf.identity(d, name="f"), tf.identity(a, name="g"), tf.no_op(name="h")]
        with tf.control_dependencies(None):
            made += [tf.no_op(name="free")]
        with tf.control_dependencies([]):
            made += [tf.no_op(name="same")]
    made += [e, tf.group(a, d), tf.group(name="empty"), tf.group([a, [b, c]], name="nested")]
    made += tf.tuple([a, b]) + tf.tuple([a, None, b], control_inputs=[c], name="gated")
    made += [error_of(lambda: tf.group(1.0)), error_of(lambda: tf.tuple([]))]
    return made


def devices(tf: Any) -> Any:
    graph = tf.get_default_graph()
    made: list[Any] = []
    with tf.device("/cpu:0"):
        made += [tf.constant(1.0, name="cpu")]
        with tf.device("/job:ps"):
            made += [tf.constant(1.0, name="merged")]
            with tf.device("/job:worker/task:1"):
                made += [tf.constant(1.0, name="overridden")]
            with tf.device(None):
                made += [tf.constant(1.0, name="none")]
        with tf.device(lambda op: "/gpu:1" if op.type == "Const" else ""):
            made += [tf.constant(1.0, name="by_function"), tf.no_op(name="other")]
        with tf.device("/gpu:0"):
            made += [tf.constant(1.0, name="inner_type")]
        with tf.device(""):
            made += [tf.constant(1.0, name="empty")]
    with graph.device("/replica:0/task:3/device:GPU:2"):
        made += [tf.constant(1.0, name="full")]
    made += [error_of(lambda: tf.device("/nonsense:0").__enter__() and None)]
    return made


def colocation(tf: Any) -> Any:
    graph = tf.get_default_graph()
    with tf.device("/cpu:1"):
        a = tf.constant(1.0, name="a")
    b = tf.constant(1.0, name="b")
    made: list[Any] = []
    with graph.colocate_with(a):
        c = tf.constant(1.0, name="c")
        with graph.colocate_with(b):
            made += [tf.constant(1.0, name="both")]
        with graph.colocate_with(b, ignore_existing=True):
            made += [tf.constant(1.0, name="only_b")]
        with tf.device("/gpu:0"):
            made += [tf.constant(1.0, name="device_inside")]
    with tf.device("/gpu:0"), graph.colocate_with(b.op):
        made += [tf.constant(1.0, name="device_outside")]
    with graph.colocate_with(c):
        made += [tf.constant(1.0, name="chain")]
    made += [error_of(lambda: graph.colocate_with(None).__enter__())]
    return [
        *made,
        [group.decode() for op in graph.get_operations() for group in op.colocation_groups()],
    ]


def graph_elements(tf: Any) -> Any:
    graph = tf.get_default_graph()
    a = tf.constant(1.0, name="a")
    tf.split(tf.zeros([4]), 2, name="s")
    return [
        graph.as_graph_element("a"),
        graph.as_graph_element("a:0"),
        graph.as_graph_element("s:1"),
        graph.get_tensor_by_name("s:0"),
        graph.get_operation_by_name("s"),
        error_of(lambda: graph.as_graph_element("missing")),
        error_of(lambda: graph.as_graph_element("missing:0")),
        error_of(lambda: graph.as_graph_element("a:7")),
        error_of(lambda: graph.as_graph_element("a:x")),
        error_of(lambda: graph.as_graph_element(3)),
        error_of(lambda: graph.as_graph_element(None)),
        error_of(lambda: graph.get_tensor_by_name("a")),
        error_of(lambda: graph.get_tensor_by_name(a)),
        error_of(lambda: graph.get_operation_by_name("a:0")),
        error_of(lambda: tf.Graph().as_graph_element(a)),
        error_of(lambda: graph.as_graph_element(a, allow_tensor=False, allow_operation=False)),
        error_of(lambda: graph.as_graph_element(a, allow_tensor=False)),
        error_of(lambda: graph.as_graph_element(a.op, allow_operation=False)),
    ]


def build_errors(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    i = tf.placeholder(tf.int32, [2, 3], name="i")
    other = tf.Graph()
    with other.as_default():
        foreign = tf.constant(1.0)
    return [
        error_of(lambda: tf.add(x, i)),
        error_of(lambda: x + i),
        error_of(lambda: x + "a"),
        error_of(lambda: i + 1.5),
        error_of(lambda: tf.matmul(x, x)),
        error_of(lambda: tf.matmul(x, i)),
        error_of(lambda: tf.reshape(x, [4])),
        error_of(lambda: tf.concat([x, i], 0)),
        error_of(lambda: tf.concat([x, tf.zeros([2])], 0)),
        error_of(lambda: tf.add(x, foreign)),
        error_of(lambda: tf.constant("a", tf.float32)),
        error_of(lambda: tf.constant(1.5, tf.int32)),
        error_of(lambda: tf.constant([[1], [2, 3]])),
        error_of(lambda: tf.constant(None)),
        error_of(lambda: tf.constant([1, "a"])),
        error_of(lambda: tf.constant([1.0, 2.0], shape=[1])),
        error_of(lambda: tf.convert_to_tensor(object())),
        error_of(lambda: bool(x)),
        error_of(lambda: list(x)),
        error_of(lambda: len(x)),
        error_of(lambda: x.set_shape([3, 3])),
        error_of(lambda: tf.placeholder("no_such_type")),
        error_of(lambda: tf.exp(i)),
        error_of(lambda: tf.nn.softmax(i)),
        error_of(lambda: x[3]),
        error_of(lambda: x[0, 0, 0]),
        error_of(lambda: x["a"]),
        error_of(lambda: x.eval()),
        error_of(lambda: tf.reduce_sum(x, 5)),
        error_of(lambda: tf.transpose(x, [0, 0])),
        error_of(lambda: tf.expand_dims(x, 7)),
        error_of(lambda: tf.squeeze(x, [0])),
        error_of(lambda: tf.split(x, 2, axis=1)),
        error_of(lambda: tf.gradients(x, foreign)),
    ]
