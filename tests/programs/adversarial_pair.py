"""Two networks that train against each other: scopes, reuse, gradient penalty, clipping."""

import numpy as np


def dense(tf, x, size, name, activation=None):
    with tf.variable_scope(name):
        initializer = tf.random_normal_initializer(stddev=0.2)
        w = tf.get_variable("w", [int(x.get_shape()[1]), size], initializer=initializer)
        b = tf.get_variable("b", [size], initializer=tf.constant_initializer(0.0))
        out = tf.matmul(x, w) + b
        return out if activation is None else activation(out)


def generator(tf, noise):
    with tf.variable_scope("generator"):
        hidden = dense(tf, noise, 16, "one", tf.nn.leaky_relu)
        return dense(tf, hidden, 12, "two", tf.tanh)


def critic(tf, x, reuse=None):
    with tf.variable_scope("critic", reuse=reuse):
        return dense(tf, dense(tf, x, 16, "one", tf.nn.relu), 1, "two")


def main(tf):
    tf.set_random_seed(7)
    rng = np.random.RandomState(3)
    noise = tf.placeholder(tf.float32, [None, 5])
    real = tf.placeholder(tf.float32, [None, 12])
    made = generator(tf, noise)
    on_real, on_made = critic(tf, real), critic(tf, made, True)

    def entropy(logits, labels):
        losses = tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=labels)
        return tf.reduce_mean(losses)

    critic_loss = entropy(on_real, tf.ones_like(on_real) * 0.9)
    critic_loss += entropy(on_made, tf.zeros_like(on_made))
    generator_loss = entropy(on_made, tf.ones_like(on_made))
    share = tf.random_uniform([tf.shape(real)[0], 1], seed=3)
    between = share * real + (1 - share) * made
    slopes = tf.gradients(critic(tf, between, True), between)[0]
    penalty = tf.reduce_mean((tf.sqrt(tf.reduce_sum(slopes**2, axis=1)) - 1.0) ** 2)
    critics = [v for v in tf.trainable_variables() if v.name.startswith("critic")]
    makers = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, "generator")
    adam = tf.train.AdamOptimizer(1e-3, beta1=0.5)
    train_critic = adam.minimize(critic_loss + 10 * penalty, var_list=critics)
    momentum = tf.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True)
    train_generator = momentum.minimize(generator_loss, var_list=makers)
    clip = [variable.assign(tf.clip_by_value(variable, -0.5, 0.5)) for variable in critics]
    tf.summary.scalar("critic", critic_loss)
    summary = tf.summary.merge_all()
    results = []
    session = tf.InteractiveSession()
    tf.global_variables_initializer().run()
    for _ in range(8):
        feed = {noise: rng.randn(10, 5), real: rng.randn(10, 12)}
        one, _, message = session.run([critic_loss, train_critic, summary], feed)
        other, _ = session.run([generator_loss, train_generator], feed)
        session.run(clip)
        results.append([one, other, len(message)])
    results.append(penalty.eval(feed))
    results.append(made.eval({noise: np.ones((1, 5))}).tolist())
    session.close()
    return results
