"""How variables look in a graph: creation, reads, updates, initializers, protocol messages."""

from __future__ import annotations

from typing import Any

from tests.ops.graphs.snapshot import error_of

# Creation -------------------------------------------------------------------------------------


def initial_values(tf: Any) -> Any:
    variables = [
        tf.Variable([1.0, 2.0], name="v"),
        tf.Variable(5),
        tf.Variable(3, dtype=tf.float32),
        tf.Variable(tf.zeros([2, 3])),
        tf.Variable("text", trainable=False),
        tf.Variable([[True], [False]]),
        tf.Variable(2.5, dtype=tf.float64, trainable=None),
    ]
    return [(v, v.initial_value, v.initializer, v.value(), v.trainable, repr(v)) for v in variables]


def callable_initial_values(tf: Any) -> Any:
    variables = [
        tf.Variable(lambda: tf.zeros([2, 3]), name="v"),
        tf.Variable(lambda: 3.0),
        tf.Variable(lambda: tf.constant([1, 2])),
        tf.Variable(lambda: 3, dtype=tf.float32, name="typed"),
    ]
    return [(v, v.initial_value) for v in variables]


def shapes_left_open(tf: Any) -> Any:
    anything = tf.placeholder(tf.float32)
    rows = tf.placeholder(tf.float32, [None, 3])
    first = tf.Variable(anything, validate_shape=False)
    second = tf.Variable(rows, validate_shape=False)
    third = tf.Variable([1.0, 2.0], validate_shape=False)
    fourth = tf.Variable([[1.0, 2.0]], shape=[None, 2], validate_shape=False, name="shaped")
    refused = [
        error_of(lambda: tf.Variable(anything)),
        error_of(lambda: tf.Variable(rows)),
        error_of(lambda: tf.Variable(None)),
        error_of(lambda: tf.Variable(1.0, collections="local_variables")),
        error_of(lambda: tf.Variable([1.0, 2.0], shape=[3])),
    ]
    return first, second, third, fourth, refused


def resource_shapes_left_open(tf: Any) -> Any:
    rows = tf.placeholder(tf.float32, [None, 3])
    tf.Variable(rows, validate_shape=False, use_resource=True)
    tf.Variable([1.0, 2.0], validate_shape=False, use_resource=True)
    tf.Variable([[1.0, 2.0]], shape=[None, 2], use_resource=True, name="shaped")
    return [
        error_of(lambda: tf.Variable(rows, use_resource=True)),
        error_of(lambda: tf.Variable([1.0, 2.0], shape=[3], use_resource=True)),
        error_of(lambda: tf.Variable(None, use_resource=True)),
    ]


def collections_of_variables(tf: Any) -> Any:
    local = [tf.GraphKeys.LOCAL_VARIABLES]
    tf.Variable(1.0, collections=local, name="local")
    tf.Variable(1.0, collections=local, trainable=False, name="fixed")
    tf.Variable(1.0, collections=(), name="hidden")
    tf.Variable(1.0, collections=["mine", tf.GraphKeys.GLOBAL_VARIABLES], name="mine")
    tf.Variable(1.0, collections=["mine"], use_resource=True, name="resource")
    tf.add_to_collection(tf.GraphKeys.MODEL_VARIABLES, tf.Variable(2.0, name="model"))
    return [
        tf.global_variables(),
        tf.global_variables("mi"),
        tf.local_variables(),
        tf.trainable_variables(scope="lo"),
        tf.model_variables(),
        tf.moving_average_variables(),
        tf.all_variables(),
    ]


def scopes_and_devices(tf: Any) -> Any:
    with tf.name_scope("outer"):
        first = tf.Variable(1.0)
        second = tf.Variable(2.0, name="named")
        tf.Variable(lambda: tf.ones([2]), name="named")
        tf.Variable(lambda: tf.ones([2]), use_resource=True)
    with tf.device("/gpu:1"), tf.control_dependencies([first.op]):
        tf.Variable([1.0], name="placed")
        tf.Variable(lambda: tf.ones([2]), name="placed_call")
        tf.Variable([1.0], name="placed_resource", use_resource=True)
    with tf.device("/job:ps/task:1"):
        tf.Variable([1.0], caching_device="/cpu:0", name="cached")
        tf.Variable([1.0], caching_device="/cpu:0", name="cached_resource", use_resource=True)
        tf.Variable([1.0], caching_device=lambda op: "/gpu:3", name="cached_by_function")
    with tf.colocate_with(second.op):
        tf.Variable([1.0], name="colocated")
        tf.Variable(lambda: tf.ones([1]), name="colocated_call")
        tf.Variable([1.0], name="colocated_resource", use_resource=True)
    with tf.container("box"):
        tf.Variable([1.0], name="boxed")
        tf.Variable([1.0], name="boxed_resource", use_resource=True)


def resource_variables(tf: Any) -> Any:
    first = tf.Variable([1.0, 2.0], name="v", use_resource=True)
    second = tf.Variable(lambda: tf.zeros([2]), use_resource=True, trainable=False)
    third = tf.Variable(tf.zeros([2, 3]), use_resource=True)
    values = [first.value(), first.read_value(), first.is_initialized(), tf.identity(first)]
    return [
        (v, v.handle, v.op, v.initializer, v.initial_value, v.trainable, repr(v), v.shape)
        for v in (first, second, third)
    ] + values


def switched_kinds(tf: Any) -> Any:
    tf.enable_resource_variables()
    try:
        on = tf.resource_variables_enabled()
        resource = tf.Variable(1.0)
        ref = tf.Variable(1.0, use_resource=False)
    finally:
        tf.disable_resource_variables()
    with tf.variable_scope("scope", use_resource=True):
        scoped = tf.Variable(1.0)
    return on, tf.resource_variables_enabled(), repr(resource), repr(ref), repr(scoped)


def creators(tf: Any) -> Any:
    seen = []

    def outer(next_creator, **kwargs):
        known = sorted(key for key in kwargs if not key.startswith("experimental_"))
        seen.append(("outer", known, kwargs["name"]))
        return next_creator(**kwargs)

    def inner(next_creator, **kwargs):
        kwargs["name"] = f"{kwargs['name']}_renamed"
        seen.append(("inner", kwargs["trainable"]))
        return next_creator(**kwargs)

    with tf.variable_creator_scope(outer), tf.variable_creator_scope(inner):
        tf.Variable(1.0, name="a")
        tf.get_variable("b", [], trainable=False)
    tf.Variable(1.0, name="c")
    return seen


# Reading --------------------------------------------------------------------------------------


def reading(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    graph = tf.get_default_graph()
    return [
        v.value(),
        v.read_value(),
        tf.identity(v),
        tf.convert_to_tensor(v),
        tf.convert_to_tensor(v, dtype=tf.float32),
        graph.as_graph_element(v),
        v._as_graph_element(),
        v._ref(),
        v.op,
        v.device,
        v.graph is graph,
        str(v.get_shape()),
        error_of(lambda: tf.convert_to_tensor(v, dtype=tf.int32)),
        error_of(lambda: tf.add(v, 1)),
        tf.stack([v, v]),
        tf.concat([v, [1.0]], 0),
    ]


def reading_resources(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0, 3.0], name="v", use_resource=True)
    graph = tf.get_default_graph()
    with tf.device("/gpu:1"):
        remote = tf.Variable(1.0, name="remote", use_resource=True)
        cached = tf.Variable(
            1.0, name="cached", use_resource=True, caching_device="/job:worker/cpu:0"
        )
    with tf.device("/gpu:0"):
        placed = v.value()
        v.read_value()
        placed += remote + cached
        remote.assign_add(1.0)
        remote.read_value()
    return [
        placed,
        graph.as_graph_element(v),
        v._as_graph_element(),
        v.device,
        v.graph is graph,
        tf.identity(v),
        tf.convert_to_tensor(v),
        error_of(lambda: tf.convert_to_tensor(v, dtype=tf.int32)),
        tf.stack([v, v]),
        v.sparse_read([0, 2]),
        v.gather_nd([[1]]),
        tf.gather(v, [1]),
    ]


def gathering(tf: Any) -> Any:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
    return [error_of(lambda: v.sparse_read([0])), tf.gather_nd(v, [[0, 1]]), tf.gather(v, [1])]


def operators(tf: Any) -> Any:
    made = []
    for use_resource in (False, True):
        v = tf.Variable([1.0, 2.0, 3.0], name="v", use_resource=use_resource)
        made += [v + 1.0, 1.0 - v, v * v, 2.0 * v, -v, abs(v), v / 2.0, 1.0 / v, v // 2.0, v % 2.0]
        made += [v**2.0, 2.0**v, v < 1.0, v <= 1.0, v > 1.0, v >= 1.0, tf.ones([3]) + v]
        b = tf.Variable([True, False], name="b", use_resource=use_resource)
        made += [~b, b & b, True | b, b ^ b]
        m = tf.Variable([[1.0]], name="m", use_resource=use_resource)
        made += [m @ m, v == v, v == 1, v != 1, hash(v) == id(v)]
        made += [error_of(lambda v=v: len(v))]
    return made


def slicing(tf: Any) -> Any:
    v = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], name="v")
    r = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], name="r", use_resource=True)
    made = [v[0], v[:, 1:2], v[..., tf.newaxis], r[1:], r[0, 0]]
    made += [v[0, 1:].assign([7.0, 8.0]), v[:, 0].assign([1.0, 2.0], name="first")]
    made += [r[0].assign([7.0, 8.0, 9.0])]
    made += [error_of(lambda: v[0].value_that_is_not_there), error_of(lambda: v["a"])]
    return made


# Updating -------------------------------------------------------------------------------------


def updating(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    x = [1.0, 2.0, 3.0]
    return [
        v.assign(x),
        v.assign_add(x, use_locking=True, name="renamed"),
        v.assign_sub(x, read_value=False),
        v.assign(x, read_value=False),
        tf.assign(v, x),
        tf.assign(v, [1.0], validate_shape=False, use_locking=False),
        tf.assign_add(v, x, use_locking=True),
        tf.assign_sub(v, x, name="by_name"),
        tf.assign(v, v + 1.0),
        error_of(lambda: v.assign([1.0])),
        error_of(lambda: v.assign([1])),
        error_of(lambda: tf.assign(tf.constant(1.0), 2.0)),
    ]


def updating_resources(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0, 3.0], name="v", use_resource=True)
    x = [1.0, 2.0, 3.0]
    added = v.assign_add(x)
    return [
        v.assign(x, read_value=False),
        v.assign_sub(x, read_value=False, name="named"),
        tf.assign(v, x).op,
        tf.assign_add(v, x).op,
        tf.assign_sub(v, x).op,
        added + 1.0,
        added.op,
        tf.identity(v.assign(x, name="stored")),
        repr(added),
        error_of(lambda: v.assign([1.0])),
    ]


def updating_open_shapes(tf: Any) -> Any:
    rows = tf.placeholder(tf.float32, [None, 2])
    open_rows = tf.Variable(rows, shape=[None, 2], validate_shape=False, use_resource=True)
    unchecked = tf.Variable([1.0, 2.0], validate_shape=False, use_resource=True)
    ref = tf.Variable(rows, validate_shape=False)
    return [
        open_rows.assign([[1.0, 2.0]], read_value=False),
        open_rows.assign_add(rows, read_value=False),
        unchecked.assign([1.0, 2.0], read_value=False),
        ref.assign([1.0]),
        tf.assign(ref, rows, validate_shape=False),
        ref.assign_add(rows),
        ref + rows,
        open_rows + rows,
        error_of(lambda: open_rows.assign([1.0])),
        error_of(lambda: unchecked.assign([1.0])),
    ]


def chained_updates(tf: Any) -> Any:
    with tf.device("/gpu:1"):
        v = tf.Variable([1.0, 2.0], name="v", use_resource=True)
    x = [1.0, 1.0]
    with tf.device("/gpu:0"):
        updated = v.assign_add(x)
        made = [updated.value(), updated.read_value(), tf.identity(updated), updated[0]]
        with tf.colocate_with(v):
            made += [updated.value()]
    again = updated.assign(x).assign_sub(x)
    delta = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    made += [again.op, again.scatter_add(delta).op, again.assign(x, read_value=False)]
    return [*made, again.handle, again.shape, again.dtype.name, again + updated]


def counting(tf: Any) -> Any:
    v = tf.Variable(1, name="v")
    r = tf.Variable(1, name="r", use_resource=True)
    return [v.count_up_to(3), tf.count_up_to(v, 4), r.count_up_to(3), tf.count_up_to(r, 4)]


def scattering(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    made = [
        getattr(tf, f"scatter_{kind}")(v, [0], [1.0])
        for kind in ("update", "add", "sub", "mul", "div", "min", "max")
    ]
    made += [
        getattr(tf, f"scatter_nd_{kind}")(v, [[0]], [1.0]) for kind in ("update", "add", "sub")
    ]
    delta = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    made += [
        getattr(v, f"scatter_{kind}")(delta)
        for kind in ("update", "add", "sub", "mul", "div", "min", "max")
    ]
    made += [getattr(v, f"scatter_nd_{kind}")([[0]], [1.0]) for kind in ("update", "add", "sub")]
    made += [v.scatter_add(delta, use_locking=True, name="locked")]
    made += [error_of(lambda: v.scatter_add([1.0]))]
    return made


def scattering_resources(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0, 3.0], name="v", use_resource=True)
    for kind in ("update", "add", "sub", "mul", "div", "min", "max"):
        getattr(tf, f"scatter_{kind}")(v, [0], [1.0])
    for kind in ("update", "add", "sub"):
        getattr(tf, f"scatter_nd_{kind}")(v, [[0]], [1.0], name=f"nd_{kind}")
    delta = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    for kind in ("update", "add", "sub", "mul", "div", "min", "max"):
        getattr(v, f"scatter_{kind}")(delta)
    for kind in ("update", "add", "sub", "min", "max"):
        getattr(v, f"scatter_nd_{kind}")([[0]], [1.0])
    return error_of(lambda: v.scatter_add([1.0]))


def batch_scattering(tf: Any) -> Any:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
    delta = tf.IndexedSlices(tf.constant([[5.0], [6.0]]), tf.constant([[0], [1]]))
    return [v.batch_scatter_update(delta), tf.batch_scatter_update(v, [[0], [1]], [[1.0], [2.0]])]


# Initializers ---------------------------------------------------------------------------------


def initializers(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0], name="v")
    w = tf.Variable(2.0, trainable=False, name="w", use_resource=True)
    tf.Variable(1, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="local")
    return [
        tf.global_variables_initializer(),
        tf.local_variables_initializer(),
        tf.variables_initializer([v, w]),
        tf.variables_initializer([v], name="named"),
        tf.variables_initializer([]),
        tf.initialize_all_variables(),
        tf.initialize_local_variables(),
        tf.initialize_variables([w]),
    ]


def initializers_without_variables(tf: Any) -> Any:
    return [tf.global_variables_initializer(), tf.local_variables_initializer()]


def initialization_checks(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0], name="v")
    w = tf.Variable(2.0, trainable=False, name="w", use_resource=True)
    tf.Variable(1, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="local")
    return [
        tf.is_variable_initialized(v),
        tf.is_variable_initialized(w),
        tf.report_uninitialized_variables(),
        tf.report_uninitialized_variables([v], name="report"),
        tf.report_uninitialized_variables([]),
        tf.assert_variables_initialized(),
        tf.assert_variables_initialized([v]),
        tf.assert_variables_initialized([]),
    ]


def initialization_checks_without_variables(tf: Any) -> Any:
    return [tf.report_uninitialized_variables(), tf.assert_variables_initialized()]


# Protocol messages ----------------------------------------------------------------------------


def messages(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0], name="v")
    with tf.name_scope("s"):
        w = tf.Variable(lambda: tf.zeros([2]), trainable=False)
        r = tf.Variable([1.0], use_resource=True, name="r")
    same = tf.Variable.from_proto(v.to_proto())
    scoped = tf.Variable.from_proto(w.to_proto("s"), import_scope="s")
    return [
        [str(each.to_proto()) for each in (v, w, r)],
        [str(each.to_proto("s")) for each in (v, w, r)],
        [same, same.initial_value, same.initializer, same.value(), same.trainable, same == v],
        [scoped, scoped.initial_value, scoped.trainable],
        error_of(lambda: tf.Variable(2.0, variable_def=v.to_proto())),
        tf.Variable(variable_def=v.to_proto()),
    ]


def save_slice_messages(tf: Any) -> Any:
    info = tf.Variable.SaveSliceInfo("full", [4, 2], [2, 0], [2, 2])
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
    v._set_save_slice_info(info)
    back = tf.Variable.from_proto(v.to_proto())
    again = back._get_save_slice_info()
    return [
        info.spec,
        str(info.to_proto()),
        str(v.to_proto()),
        again.full_name,
        list(again.full_shape),
        list(again.var_offset),
        list(again.var_shape),
        again.spec,
    ]


# Indexed slices -------------------------------------------------------------------------------


def dense_from_slices(tf: Any) -> Any:
    slices = tf.IndexedSlices(
        tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([0, 2]), tf.constant([4, 2])
    )
    return [
        tf.convert_to_tensor(slices),
        tf.add(slices, 1.0),
        error_of(lambda: tf.convert_to_tensor(slices, dtype=tf.int32)),
        error_of(
            lambda: tf.convert_to_tensor(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])))
        ),
    ]


# Initial values that read variables -----------------------------------------------------------


def initialized_values(tf: Any) -> Any:
    v = tf.Variable([1.0, 2.0], name="v")
    with tf.name_scope("scope"):
        return [v.initialized_value(), v.initialized_value()]


def initial_values_that_read_variables(tf: Any) -> Any:
    with tf.name_scope("a"):
        v = tf.Variable([1.0, 2.0], name="v")
        r = tf.Variable([1.0, 2.0], name="r", use_resource=True)
    made = [
        tf.Variable(v, name="copy"),
        tf.Variable(v * 2.0 + r, name="sum"),
        tf.Variable(v.initialized_value() * 2.0, name="doubled"),
        tf.Variable(r + 1.0, name="of_resource", use_resource=True),
        tf.Variable(v + 1.0, name="of_reference", use_resource=True),
        tf.Variable(lambda: v + 1.0, name="made_by_function"),
    ]
    with tf.device("/gpu:1"):
        made += [tf.Variable(made[1] + 1.0, name="chain")]
    hidden = tf.Variable(1.0, name="hidden", collections=[])
    return [*made, tf.Variable(hidden + 1.0, name="of_hidden")]
