"""What can't be a node is refused in terms of the program: its variables, its lines."""

import traceback

import pytest

import penstock as tf


def one_branch(x):
    if x > 0:
        y = x
    return y


def other_branch(x):
    if x > 0:
        pass
    else:
        y = x
    return y


def two_types(x):
    if x > 0:
        y = 1
    else:
        y = 1.0
    return y


def two_structures(x):
    if x > 0:
        y = (1,)
    else:
        y = (1, 2)
    return y


def sometimes_a_result(x):
    if x > 0:
        return x


def return_in_loop(x):
    while x > 0:
        x -= 1
        if x < 5:
            return x
    return x


def not_there_before(x):
    while x > 0:
        y = x
        x -= 1
    return y


def other_type(x):
    y = 0
    while x > 0:
        y = tf.cast(y, tf.float32)
        x -= 1
    return y


def other_shape(x):
    y = tf.zeros([1])
    while x > 0:
        y = tf.concat([y, y], 0)
        x -= 1
    return y


def other_structure(x):
    y = (0,)
    while x > 0:
        y = (0, 1)
        x -= 1
    return y


REFUSED = [
    (one_branch, ValueError, r"initialized in the else branch: \('y',\)"),
    (other_branch, ValueError, r"initialized in the if branch: \('y',\)"),
    (two_types, TypeError, '"y" has dtype int32 in the TRUE branch, but dtype=float32'),
    (two_structures, TypeError, '"y" does not have the same nested structure in the TRUE'),
    (sometimes_a_result, ValueError, "must also be returned from the else branch"),
    (return_in_loop, ValueError, "return statements are not supported within a TensorFlow loop"),
    (not_there_before, ValueError, r"must be defined before the loop: \('y',\)"),
    (other_type, TypeError, '"y" has dtype int32 before the loop, but dtype float32 after'),
    (other_shape, ValueError, r'"y" has shape \(1,\) before the loop, but shape \(2,\) after'),
    (other_structure, TypeError, '"y" does not have the same nested structure after one iter'),
]


@pytest.mark.parametrize(
    ("function", "error", "message"), REFUSED, ids=[each[0].__name__ for each in REFUSED]
)
def test_what_is_refused(function, error, message):
    with pytest.raises(error, match=message):
        tf.autograph.to_graph(function)(tf.constant(3))


def test_tracebacks_are_of_the_program():
    def f(x):
        if x > 0:
            raise KeyError("here")
        return x

    with pytest.raises(KeyError) as caught:
        tf.autograph.to_graph(f)(1)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert frames[-1].line == 'raise KeyError("here")'
    assert frames[1].name == "f"


def test_nodes_know_their_line():
    def f(x):
        while x < 10:
            x = x * 2  # the line
        return x

    tf.autograph.to_graph(f)(tf.constant(1))
    (node,) = [op for op in tf.get_default_graph().get_operations() if op.type == "Mul"]
    assert node.traceback[-1].line == "x = x * 2  # the line"


def test_code_that_is_not_converted_says_so():
    def f(x):
        return 1 if x > 0 else 2

    with pytest.raises(TypeError, match="AutoGraph did not convert this function"):
        tf.function(lambda x: bool(x > 0))(tf.constant(1))
    with pytest.raises(TypeError, match="AutoGraph is disabled in this function"):
        tf.function(f, autograph=False)(tf.constant(1))
    left_alone = tf.function(tf.autograph.experimental.do_not_convert(f))
    with pytest.raises(TypeError, match="AutoGraph is disabled in this function"):
        left_alone(tf.constant(1))


def test_a_function_without_source_runs_as_it_is(monkeypatch):
    told = []
    monkeypatch.setattr(
        "penstock.autograph.calls.ag_logging.warn", lambda text, *args: told.append(text % args)
    )
    namespace = {}
    exec(compile("def f(x):\n    return x if x is None else x + 1", "<gone>", "exec"), namespace)
    with tf.Session() as session:
        assert session.run(tf.function(namespace["f"])(tf.constant(1))) == 2
    (text,) = told
    assert "could not be transformed and will be executed as-is" in text
    monkeypatch.setenv("AUTOGRAPH_STRICT_CONVERSION", "1")
    exec(compile("def g(x):\n    return x if x is None else x + 2", "<gone>", "exec"), namespace)
    with pytest.raises(OSError, match="could not get source code"):
        tf.function(namespace["g"])(tf.constant(1))


def test_what_can_not_be_converted():
    with pytest.raises(NotImplementedError, match="object conversion"):
        tf.autograph.to_graph(3)
    with pytest.raises(NotImplementedError, match="Generators"):
        tf.autograph.to_graph(lambda: (yield))


def test_a_loop_that_fills_the_graph_is_warned_of(monkeypatch):
    from penstock.autograph.operators import unrolled_loops

    told = []
    monkeypatch.setattr(unrolled_loops, "INEFFICIENT_UNROLL_MIN_ITERATIONS", 5)
    monkeypatch.setattr(unrolled_loops.ag_logging, "warn", lambda text, *args: told.append(args))

    def f(x):
        i = 0
        while i < 20:
            x = x + 1
            i += 1
        return x

    tf.autograph.to_graph(f)(tf.constant(1))
    assert len(told) == 1
    monkeypatch.setattr(unrolled_loops, "PYTHON_MAX_ITERATIONS", 10)
    with pytest.raises(ValueError, match="iteration limit exceeded"):
        tf.autograph.to_graph(f)(1)
