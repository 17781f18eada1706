"""Loops in the graph: Newton's fractal (while_loop), an ODE to fit (scan), a gradient of one's own.

penstock run examples/loops_and_gradients.py --width 72
"""

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("width", 60, "characters in a line of the fractal")
flags.DEFINE_integer("max_iterations", 40, "Newton steps, at most")
flags.DEFINE_integer("steps", 60, "training steps of the fit")
FLAGS = flags.FLAGS


def newton_fractal(width):
    """Where Newton's method for z**3 = 1 leads from each point of a square, and how many steps."""
    across = np.linspace(-1.5, 1.5, width)
    down = np.linspace(1.5, -1.5, width // 2)
    start = tf.constant(across[np.newaxis, :] + 1j * down[:, np.newaxis], tf.complex64)

    def moving(step, z, error):
        return tf.logical_and(step < FLAGS.max_iterations, tf.reduce_max(error) > 1e-4)

    def newton(step, z, error):
        z = z - (z**3 - 1.0) / (3.0 * z**2)
        return step + 1, z, tf.abs(z**3 - 1.0)

    steps, z, _ = tf.while_loop(moving, newton, [0, start, tf.abs(start**3 - 1.0)])
    roots = tf.constant(np.exp(2j * np.pi * np.arange(3) / 3), tf.complex64)
    return steps, tf.argmin(tf.abs(z[..., tf.newaxis] - roots), axis=2)


def pendulum(damping, moments=50, dt=0.1):
    """Angles of a damped pendulum: Runge and Kutta's midpoint rule, scanned over time."""

    def slope(state):
        return tf.stack([state[1], -tf.sin(state[0]) - damping * state[1]])

    def advance(state, _):
        return state + dt * slope(state + 0.5 * dt * slope(state))

    states = tf.scan(advance, tf.range(moments), initializer=tf.constant([1.0, 0.0]))
    return states[:, 0]


@tf.custom_gradient
def log1pexp(x):
    """log(1 + exp(x)), whose gradient stays finite where exp(x) does not."""
    e = tf.exp(x)

    def grad(dy):
        return dy * (1.0 - 1.0 / (1.0 + e))

    return tf.log(1.0 + e), grad


def main(_):
    steps, basins = newton_fractal(FLAGS.width)

    guess = tf.Variable(0.05, name="damping")
    loss = tf.reduce_mean(tf.square(pendulum(guess) - pendulum(0.3)))
    train_op = tf.train.AdamOptimizer(0.02).minimize(loss)

    x = tf.placeholder(tf.float32, [])
    gradient = tf.gradients(log1pexp(x), x)[0]

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        taken, picture = sess.run([steps, basins])
        for line in picture:
            print("".join(".o#"[root] for root in line))
        print("newton: %d steps, basins of %s points" % (taken, np.bincount(picture.ravel())))

        for step in range(1, FLAGS.steps + 1):
            _, value = sess.run([train_op, loss])
            if step % 20 == 0 or step == FLAGS.steps:
                print("step %d: loss %.6f, damping %.4f" % (step, value, sess.run(guess)))
        print("gradient of log1pexp at 100: %.1f" % sess.run(gradient, {x: 100.0}))


if __name__ == "__main__":
    tf.app.run()
