"""Static shapes in a loop that depend on values from outside of it."""

import penstock as tf


def _in_a_loop(build):
    """What `build()` returns when it is called in the body of a loop."""
    seen = []

    def body(step):
        seen.append(build())
        return step + 1

    tf.while_loop(lambda step: step < 3, body, [tf.constant(0)])
    return seen[0]


def test_a_size_from_outside_is_known():
    rows = tf.shape(tf.zeros([2, 5]))[0]
    table = tf.zeros([3, 2, 2, 3])
    shapes = _in_a_loop(
        lambda: [
            tf.reshape(table[0], [rows, 2, -1]).shape,
            tf.zeros([rows, 7]).shape,
            tf.tile(tf.ones([2, 1]), [rows, 3]).shape,
        ]
    )
    assert [shape.as_list() for shape in shapes] == [[2, 2, 3], [2, 7], [4, 3]]


def test_a_whole_shape_from_outside_is_known():
    wanted = tf.shape(tf.zeros([2, 6])) + 0
    shape = _in_a_loop(lambda: tf.reshape(tf.range(12), wanted).shape)
    assert shape.as_list() == [2, 6]


def test_what_the_body_computes_from_it_is_not():
    rows = tf.shape(tf.zeros([2, 5]))[0]
    shapes = _in_a_loop(lambda: [tf.range(rows * 2).shape, tf.zeros([rows * 2, 3]).shape])
    assert [shape.as_list() for shape in shapes] == [[None], [None, 3]]


def test_a_loop_inside_of_a_loop_does_not_see_it():
    rows = tf.shape(tf.zeros([2, 5]))[0]
    shape = _in_a_loop(lambda: _in_a_loop(lambda: tf.zeros([rows, 3]).shape))
    assert shape.as_list() == [None, 3]


def test_a_beam_keeps_its_shape():
    beams = tf.shape(tf.constant([0, 0]))[0]
    scores = tf.tile([[0.0, 1.0]], [beams, 1])

    def body(step, scores):
        best, chosen = tf.nn.top_k(tf.reshape(scores, [-1, 2]), k=2)
        rows = tf.reshape(tf.range(beams * 2) // 2, [beams, 2])
        return step + 1, tf.gather_nd(best, tf.stack([rows, chosen], axis=2))

    _, scores = tf.while_loop(lambda step, _: step < 3, body, [tf.constant(0), scores])
    assert scores.shape.as_list() == [2, 2]
    with tf.Session() as session:
        assert session.run(scores).tolist() == [[0.0, 1.0], [0.0, 1.0]]
