"""How variable scopes name, share and make variables."""

from __future__ import annotations

from typing import Any

from tests.ops.graphs.snapshot import error_of


def _zeros(tf: Any) -> Any:
    return tf.zeros_initializer()


# Names ----------------------------------------------------------------------------------------


def nested_names(tf: Any) -> Any:
    a = tf.get_variable("a", [2], initializer=_zeros(tf))
    with tf.variable_scope("one") as one:
        b = tf.get_variable("b", [2], initializer=_zeros(tf))
        with tf.variable_scope("two") as two:
            c = tf.get_variable("c", [2], initializer=_zeros(tf))
            d = tf.add(a, b)
        with tf.variable_scope("two"):
            e = tf.add(a, c)
            f = tf.get_variable("f", [2], initializer=_zeros(tf))
    scopes = [one.name, one.original_name_scope, two.name, two.original_name_scope]
    return [a, b, c, d, e, f, scopes, str(tf.get_variable_scope().name)]


def re_entered_scopes(tf: Any) -> Any:
    with tf.variable_scope("one") as one:
        tf.constant(1, name="k")
    with tf.variable_scope(one) as again:
        tf.constant(1, name="k")
        tf.get_variable("x", [], initializer=_zeros(tf))
        names = [tf.get_variable_scope().name, again.name, again.original_name_scope]
    with tf.name_scope("block"), tf.variable_scope(one):
        tf.constant(1, name="k")
        tf.get_variable("y", [], initializer=_zeros(tf))
        with tf.variable_scope("inner"):
            tf.constant(1, name="k")
            tf.get_variable("z", [], initializer=_zeros(tf))
    with tf.variable_scope("other"), tf.variable_scope(one, reuse=True) as shared:
        tf.constant(1, name="k")
        tf.get_variable("x", [])
        names += [shared.name, shared.original_name_scope, shared.reuse]
    with tf.name_scope(one.original_name_scope):
        tf.constant(1, name="k")
    with tf.variable_scope("one"):
        tf.constant(1, name="k")
    return names


def default_names(tf: Any) -> Any:
    made = []
    for _ in range(2):
        with tf.variable_scope(None, default_name="layer") as scope:
            made += [tf.get_variable("w", [], initializer=_zeros(tf)), scope.name]
            with tf.variable_scope(None, "inner") as inner:
                made += [tf.get_variable("w", [], initializer=_zeros(tf)), inner.name]
    with tf.variable_scope("layer", "ignored"):
        tf.constant(1)
    with tf.variable_scope("outer"), tf.variable_scope(None, "layer") as scope:
        made += [scope.name, scope.original_name_scope]
    with tf.variable_scope("layer_1") as scope:
        made += [scope.name, scope.original_name_scope]
    with tf.variable_scope(None, "layer") as scope:
        made += [scope.name, scope.original_name_scope]
    made += [error_of(lambda: tf.variable_scope(None).__enter__())]
    made += [error_of(lambda: tf.variable_scope(3).__enter__())]
    return made


def default_names_and_reuse(tf: Any) -> Any:
    def enter_reusing():
        with tf.variable_scope(None, "layer", reuse=True):
            pass

    with tf.variable_scope("a"), tf.variable_scope("b"):
        tf.get_variable("w", [], initializer=_zeros(tf))
    with tf.variable_scope("a", reuse=True), tf.variable_scope("b"):
        reused = tf.get_variable("w", [])
    return [reused, error_of(enter_reusing)]


def without_name_scope(tf: Any) -> Any:
    made = []
    with tf.variable_scope("plain", auxiliary_name_scope=False) as plain:
        made += [tf.constant(1, name="k"), tf.get_variable("w", [], initializer=_zeros(tf))]
        made += [plain.name, plain.original_name_scope]
        with tf.variable_scope("inner") as inner:
            made += [tf.constant(1, name="k"), inner.name, inner.original_name_scope]
    with tf.name_scope("block"), tf.variable_scope(plain, auxiliary_name_scope=False) as again:
        made += [tf.constant(1, name="k"), again.original_name_scope]
    with tf.variable_scope(None, "plain", auxiliary_name_scope=False) as fresh:
        made += [tf.constant(1, name="k"), fresh.name]
    made += [error_of(lambda: tf.variable_scope("a", auxiliary_name_scope="no"))]
    return made


def root_scope(tf: Any) -> Any:
    made = []
    root = tf.get_variable_scope()
    with tf.variable_scope("outer"):
        with tf.variable_scope(root) as scope:
            made += [tf.get_variable("w", [], initializer=_zeros(tf)), scope.name]
            made += [tf.constant(1, name="k")]
        with tf.variable_scope("", reuse=False) as scope:
            made += [scope.name, tf.constant(1, name="k")]
    with tf.variable_scope("") as scope:
        made += [scope.name, tf.constant(1, name="k"), scope.original_name_scope]
        made += [tf.get_variable("v", [], initializer=_zeros(tf))]
    return made


def scope_names_with_slashes(tf: Any) -> Any:
    made = []
    with tf.variable_scope("a/b") as scope:
        made += [tf.get_variable("c/d", [], initializer=_zeros(tf)), scope.name]
        made += [tf.constant(1, name="k")]
    with tf.variable_scope("a"), tf.variable_scope("b", reuse=True):
        made += [tf.get_variable("c/d", []), tf.constant(1, name="k")]
    return made


def variables_and_name_scopes(tf: Any) -> Any:
    with tf.name_scope("names"):
        first = tf.get_variable("w", [], initializer=_zeros(tf))
        second = tf.Variable(1.0, name="w")
        with tf.variable_scope("scope"):
            third = tf.get_variable("w", [], initializer=_zeros(tf))
            fourth = tf.Variable(1.0, name="w")
            fifth = tf.add(third, fourth)
    return [first, second, third, fourth, fifth]


def old_op_scope(tf: Any) -> Any:
    x = tf.constant(1.0)
    with tf.variable_op_scope([x], None, "layer") as scope:
        made = [scope.name, tf.get_variable("w", [], initializer=_zeros(tf)), tf.identity(x)]
    with tf.variable_op_scope([x], "named", "layer") as scope:
        made += [scope.name, tf.identity(x)]
    return made


def scopes_of_other_graphs(tf: Any) -> Any:
    outer = tf.get_default_graph()
    other = tf.Graph()
    with tf.variable_scope("here"):
        with other.as_default():
            there = tf.get_variable("w", [], initializer=_zeros(tf)).name
            name_there = tf.get_variable_scope().name
        name_here = tf.get_variable_scope().name
        tensor = tf.constant(1.0)
    with other.as_default(), tf.variable_scope("back", values=[tensor]):
        inside = tf.get_default_graph() is outer
        tf.get_variable("w", [], initializer=_zeros(tf))
    return [there, name_there, name_here, inside]


# Sharing --------------------------------------------------------------------------------------


def sharing(tf: Any) -> Any:
    def get(**kwargs):
        return tf.get_variable("w", [2], **kwargs)

    made = []
    with tf.variable_scope("s") as scope:
        w = get(initializer=_zeros(tf))
        made += [error_of(get)]
        scope.reuse_variables()
        made += [get() is w, get(initializer=tf.ones_initializer()) is w, scope.reuse]
        made += [error_of(lambda: tf.get_variable("missing", [2]))]
        made += [error_of(lambda: tf.get_variable("w", [3]))]
        made += [error_of(lambda: tf.get_variable("w", [2], dtype=tf.int32))]
        made += [error_of(lambda: tf.get_variable("w", [None, 2]))]
        with tf.variable_scope("inner") as inner:
            made += [inner.reuse]
        with tf.variable_scope("inner", reuse=False) as inner:
            made += [inner.reuse]
    with tf.variable_scope("s") as scope:
        made += [scope.reuse, error_of(get)]
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE) as scope:
        made += [get() is w, str(scope.reuse), tf.get_variable("new", [1], initializer=_zeros(tf))]
        with tf.variable_scope("inner") as inner:
            made += [str(inner.reuse)]
            tf.get_variable("v", [1], initializer=_zeros(tf))
            made += [tf.get_variable("v", [1])]
        with tf.variable_scope("inner", reuse=True) as inner:
            made += [inner.reuse, error_of(lambda: tf.get_variable("u", [1]))]
    with tf.variable_scope(scope) as again:
        made += [str(again.reuse)]
    with tf.variable_scope(scope, reuse=True) as again:
        made += [again.reuse]
    return made


def sharing_from_the_root(tf: Any) -> Any:
    first = tf.get_variable("w", [1], initializer=_zeros(tf))
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        second = tf.get_variable("w", [1])
    with tf.variable_scope(tf.get_variable_scope(), reuse=None):
        third = error_of(lambda: tf.get_variable("w", [1]))
    tf.get_variable_scope().reuse_variables()
    fourth = tf.get_variable("w")
    return [first is second, third, first is fourth, tf.get_variable_scope().reuse]


def not_shared(tf: Any) -> Any:
    tf.Variable(1.0, name="w")
    made = [tf.get_variable("w", [], initializer=_zeros(tf))]
    with tf.variable_scope("s"):
        tf.Variable(1.0, name="w")
    with tf.variable_scope("s", reuse=True):
        made += [error_of(lambda: tf.get_variable("w"))]
    return made


# Making ---------------------------------------------------------------------------------------


def initial_values(tf: Any) -> Any:
    made = [
        tf.get_variable("default", [3, 4]),
        tf.get_variable("default_int", [2], dtype=tf.int32),
        tf.get_variable("default_bool", [2], dtype=tf.bool),
        tf.get_variable("default_double", [2], dtype=tf.float64),
        tf.get_variable("default_half", [2, 3], dtype=tf.float16),
        tf.get_variable("zeros", [2], initializer=tf.zeros_initializer()),
        tf.get_variable("zeros_class", [2], initializer=tf.zeros_initializer),
        tf.get_variable("value", initializer=[1.0, 2.0]),
        tf.get_variable("number", initializer=3),
        tf.get_variable("tensor", initializer=tf.constant([1.0, 2.0])),
        tf.get_variable(
            "function",
            [2, 2],
            initializer=lambda shape, dtype, partition_info: tf.ones(shape, dtype),
        ),
        tf.get_variable("plain_function", initializer=lambda: tf.ones([4])),
        tf.get_variable("scalar", [], initializer=tf.constant_initializer(2.5)),
        tf.get_variable("shaped_by_int", 3, initializer=_zeros(tf)),
    ]
    made += [
        error_of(lambda: tf.get_variable("no_shape")),
        error_of(lambda: tf.get_variable("part", [None, 2])),
        error_of(lambda: tf.get_variable("both", [3], initializer=tf.constant([1.0, 2.0]))),
        error_of(lambda: tf.get_variable("string", [2], dtype=tf.string)),
        error_of(lambda: tf.get_variable("wrong", [2], initializer=tf.ones([2]), dtype=tf.int32)),
        error_of(lambda: tf.get_variable("list", [2], initializer=[1.0, 2.0])),
    ]
    return made


def resource_initial_values(tf: Any) -> Any:
    with tf.variable_scope("r", use_resource=True) as scope:
        return [
            tf.get_variable("default", [3, 4]),
            tf.get_variable("value", initializer=[1.0, 2.0]),
            tf.get_variable("tensor", initializer=tf.constant([1.0, 2.0])),
            tf.get_variable("zeros", [2], initializer=_zeros(tf), trainable=False),
            tf.get_variable("ref", [2], initializer=_zeros(tf), use_resource=False),
            scope.use_resource,
        ]


def inherited_settings(tf: Any) -> Any:
    made = []
    with tf.variable_scope(
        "outer", initializer=tf.ones_initializer(), dtype=tf.float64, caching_device="/cpu:0"
    ) as outer:
        made += [tf.get_variable("a", [2])]
        with tf.variable_scope("inner", initializer=tf.constant_initializer(3.0)) as inner:
            made += [tf.get_variable("b", [2]), tf.get_variable("c", [2], tf.float32)]
            made += [inner.dtype.name]
        outer.set_initializer(tf.zeros_initializer())
        outer.set_dtype(tf.float32)
        outer.set_caching_device(None)
        made += [tf.get_variable("d", [2])]
    with tf.variable_scope(outer):
        made += [tf.get_variable("e", [2])]
    with tf.variable_scope("third", dtype=tf.int64):
        made += [tf.get_variable("f", [2])]
    return made


def regularizers(tf: Any) -> Any:
    def half(weights):
        return tf.reduce_sum(weights, name="loss") * 0.5

    # Late versions of TensorFlow call a regularizer a second time, for nodes that nobody reads;
    # so the losses alone are compared, in a graph of their own.
    with tf.Graph().as_default() as graph:
        with tf.variable_scope("s", regularizer=half) as scope:
            made = [tf.get_variable("a", [2], initializer=_zeros(tf))]
            tf.get_variable("b", [2], initializer=_zeros(tf), regularizer=lambda w: None)
            tf.get_variable("c", [2], initializer=_zeros(tf), regularizer=tf.no_regularizer)
            with tf.variable_scope("inner", regularizer=tf.no_regularizer):
                tf.get_variable("d", [2], initializer=_zeros(tf))
            scope.reuse_variables()
            tf.get_variable("a", [2])
            made += [scope.regularizer is half]
        with tf.name_scope("names"), tf.variable_scope("t", regularizer=half):
            tf.get_variable("w", [2], initializer=_zeros(tf))
            tf.get_variable("r", [2], initializer=_zeros(tf), use_resource=True)
        return [
            *made,
            tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES),
            [
                [op.name, op.type, [x.name for x in op.inputs], op.colocation_groups()]
                for op in graph.get_operations()
                if "/Regularizer/" in op.name
            ],
        ]


def local_variables(tf: Any) -> Any:
    made = [tf.get_local_variable("a", [2], initializer=_zeros(tf))]
    with tf.variable_scope("s"):
        made += [tf.get_local_variable("b", [2], initializer=_zeros(tf), collections=["mine"])]
        made += [tf.get_variable("c", [2], initializer=_zeros(tf), trainable=False)]
        made += [tf.get_variable("d", [2], initializer=_zeros(tf), collections=["mine"])]
    return made + [variable.trainable for variable in made]


def collections_by_scope(tf: Any) -> Any:
    with tf.variable_scope("one") as one:
        tf.get_variable("a", [], initializer=_zeros(tf))
        tf.get_local_variable("b", [], initializer=_zeros(tf))
    with tf.variable_scope("one_more"):
        tf.get_variable("a", [], initializer=_zeros(tf), trainable=False)
    root = tf.get_variable_scope()
    return [
        one.global_variables(),
        one.local_variables(),
        one.trainable_variables(),
        one.get_collection("variables"),
        root.global_variables(),
        tf.global_variables("one"),
        tf.global_variables(scope="one/"),
        tf.trainable_variables("one"),
    ]


def constraints(tf: Any) -> Any:
    def clip(x):
        return tf.clip_by_value(x, 0.0, 1.0)

    with tf.variable_scope("s", constraint=clip) as scope:
        first = tf.get_variable("a", [], initializer=_zeros(tf))
        second = tf.get_variable("b", [], initializer=_zeros(tf), constraint=abs)
        third = tf.get_variable("c", [], initializer=_zeros(tf), use_resource=True)
    fourth = tf.Variable(1.0, constraint=clip)
    return [
        scope.constraint is clip,
        first.constraint is clip,
        second.constraint is abs,
        third.constraint is clip,
        fourth.constraint is clip,
        tf.Variable(1.0).constraint,
        error_of(lambda: tf.Variable(1.0, constraint="clip")),
    ]


# Getters --------------------------------------------------------------------------------------


def custom_getters(tf: Any) -> Any:
    seen = []

    def outer(getter, name, *args, **kwargs):
        seen.append(("outer", name, sorted(kwargs), len(args)))
        return getter(name, *args, **kwargs)

    def inner(getter, name, *args, **kwargs):
        seen.append(("inner", name, kwargs["shape"], kwargs["trainable"]))
        return getter(name + "_inner", *args, **kwargs)

    def doubled(getter, name, *args, **kwargs):
        return getter(name, *args, **kwargs) * 2.0

    made = []
    with tf.variable_scope("s", custom_getter=outer):
        made += [tf.get_variable("a", [2], initializer=_zeros(tf))]
        with tf.variable_scope("t", custom_getter=inner):
            made += [tf.get_variable("b", [2], initializer=_zeros(tf))]
            made += [tf.get_variable("c", [2], initializer=_zeros(tf), custom_getter=doubled)]
    with tf.variable_scope("u", custom_getter=doubled, reuse=tf.AUTO_REUSE):
        made += [tf.get_variable("w", [2], initializer=_zeros(tf)) for _ in range(2)]
    made += [error_of(lambda: tf.variable_scope("v", custom_getter=3).__enter__())]
    return made + seen


# Counting -------------------------------------------------------------------------------------


def counting_of_default_names(tf: Any) -> Any:
    names = []

    def default(name="d"):
        with tf.variable_scope(None, name) as scope:
            names.append((scope.name, scope.original_name_scope))

    with tf.variable_scope("a") as a:
        default()
        default()
        with tf.variable_scope("d"):
            default()
        default()
    with tf.variable_scope("a"):
        default()
        default()
    with tf.variable_scope(a):
        default()
        with tf.variable_scope(a):
            default()
        default()
    default("a")
    default("a")
    with tf.variable_scope("b"), tf.variable_scope(a):
        default()
    with tf.variable_scope(tf.get_variable_scope()):
        default("a")
        default("e")
    default("e")
    with tf.variable_scope(""):
        default("e")
    default("e")
    with tf.variable_scope("a/d"):
        default()
    default("a/d")
    default("d")
    return names


def scope_objects(tf: Any) -> Any:
    scope = tf.VariableScope(reuse=None, name="made", initializer=_zeros(tf))
    with tf.variable_scope(scope) as entered:
        made = [tf.get_variable("w", [1]), tf.constant(1, name="k"), entered.original_name_scope]
    with tf.variable_scope("s") as first:
        first.set_regularizer(None)
        first.set_use_resource(True)
        made += [tf.get_variable("w", [1], initializer=_zeros(tf)), entered is scope]
        first.set_partitioner(None)
        first.set_custom_getter(None)
    with tf.variable_scope(first, initializer=tf.ones_initializer(), use_resource=False) as second:
        made += [tf.get_variable("v", [1]), second.use_resource, first.initializer is None]
    return made


# Surroundings ---------------------------------------------------------------------------------


def typed_initial_values(tf: Any) -> Any:
    with tf.variable_scope("s", initializer=tf.ones_initializer(tf.int32)):
        return [
            tf.get_variable("value", initializer=[1.0, 2.0], dtype=tf.float32),
            tf.get_variable("tensor", initializer=tf.constant([1, 2]), dtype=tf.int32),
            tf.get_variable("array", initializer=tf.constant_initializer([1, 2]), shape=[2]),
            tf.get_variable("inherited", [2]),
            tf.get_variable("text", initializer="text"),
            tf.get_variable("any", initializer=tf.placeholder(tf.float32), validate_shape=False),
            tf.get_variable("by_name", [2], "float64"),
        ]


def devices_and_dependencies(tf: Any) -> Any:
    first = tf.get_variable("first", [2], initializer=_zeros(tf))
    with tf.device("/gpu:1"), tf.control_dependencies([first.initializer]):
        tf.get_variable("second", [2], initializer=_zeros(tf))
        tf.get_variable("third", [2], initializer=_zeros(tf), use_resource=True)
    with tf.colocate_with(first):
        tf.get_variable("fourth", [2], initializer=_zeros(tf))
        tf.add(first, 1.0)
    with tf.device(lambda op: "/job:ps" if op.type.startswith("Var") else "/job:worker"):
        tf.get_variable("fifth", [2], initializer=_zeros(tf))
        tf.get_variable("sixth", [2], initializer=_zeros(tf), use_resource=True)
    with tf.variable_scope("cached", caching_device=lambda op: "/device:CPU:0"):
        tf.get_variable("seventh", [2], initializer=_zeros(tf))


def inside_conditionals(tf: Any) -> Any:
    pred = tf.placeholder(tf.bool, [])

    def branch(use_resource):
        v = tf.get_variable("v", [2], initializer=_zeros(tf), use_resource=use_resource)
        return v + 1.0

    with tf.variable_scope("ref", reuse=tf.AUTO_REUSE):
        ref = tf.cond(pred, lambda: branch(False), lambda: branch(False) * 2.0)
    with tf.variable_scope("resource", reuse=tf.AUTO_REUSE):
        resource = tf.cond(pred, lambda: branch(True), lambda: branch(True) * 2.0)
    return [ref, resource]


def updates_inside_conditionals(tf: Any) -> Any:
    pred = tf.placeholder(tf.bool, [])
    v = tf.get_variable("v", [2], initializer=_zeros(tf))
    r = tf.get_variable("r", [2], initializer=_zeros(tf), use_resource=True)
    return [
        tf.cond(pred, lambda: tf.assign_add(v, [1.0, 1.0]), lambda: tf.identity(v)),
        tf.cond(pred, lambda: r.assign_add([1.0, 1.0]).read_value(), lambda: tf.identity(r)),
    ]
