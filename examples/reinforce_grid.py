"""Reinforcement learning: REINFORCE with a baseline on a small grid world in NumPy.

penstock run examples/reinforce_grid.py --episodes 500
"""

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("episodes", 400, "walks to learn from")
flags.DEFINE_integer("max_moves", 40, "moves after which a walk ends")
flags.DEFINE_float("discount", 0.95, "worth of a reward one move later")
FLAGS = flags.FLAGS

# S: start, G: goal, #: wall, O: pit
GRID = ["S..#", ".O..", "...O", "#..G"]
MOVES = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}
STATES = len(GRID) * len(GRID[0])


class GridWorld:
    """A walk over GRID: -0.04 a move, -1 for the pit, +1 for the goal."""

    def reset(self):
        self.row, self.column = 0, 0
        return self.state

    @property
    def state(self):
        return self.row * len(GRID[0]) + self.column

    def step(self, move):
        down, right = list(MOVES.values())[move]
        row, column = self.row + down, self.column + right
        inside = 0 <= row < len(GRID) and 0 <= column < len(GRID[0])
        if inside and GRID[row][column] != "#":
            self.row, self.column = row, column
        reward = {"G": 1.0, "O": -1.0}.get(GRID[self.row][self.column], -0.04)
        return self.state, reward, reward in (1.0, -1.0)


class Policy:
    """Probabilities of moves, and the value of a state as the baseline."""

    def __init__(self):
        self.states = tf.placeholder(tf.int32, [None], name="states")
        self.moves = tf.placeholder(tf.int32, [None], name="moves")
        self.returns = tf.placeholder(tf.float32, [None], name="returns")
        places = tf.one_hot(self.states, STATES)
        logits = tf.layers.dense(places, len(MOVES), use_bias=False, name="policy")
        values = tf.squeeze(tf.layers.dense(places, 1, use_bias=False, name="value"), axis=1)
        self.probabilities = tf.nn.softmax(logits)

        advantages = tf.stop_gradient(self.returns - values)
        surprise = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.moves, logits=logits)
        entropy = -tf.reduce_sum(self.probabilities * tf.nn.log_softmax(logits), axis=1)
        self.loss = (
            tf.reduce_sum(surprise * advantages)
            + tf.reduce_sum(tf.square(self.returns - values))
            - 0.01 * tf.reduce_sum(entropy)
        )
        self.train_op = tf.train.AdamOptimizer(0.05).minimize(self.loss)


def walk(sess, policy, world, random):
    states, moves, rewards = [world.reset()], [], []
    while len(moves) < FLAGS.max_moves:
        chances = sess.run(policy.probabilities, {policy.states: states[-1:]})[0]
        moves.append(random.choice(len(MOVES), p=chances / chances.sum(dtype=np.float64)))
        state, reward, done = world.step(moves[-1])
        rewards.append(reward)
        if done:
            break
        states.append(state)
    return states[: len(moves)], moves, rewards


def discounted(rewards):
    returns, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + FLAGS.discount * total
        returns.append(total)
    return returns[::-1]


def show(sess, policy):
    best = np.argmax(sess.run(policy.probabilities, {policy.states: np.arange(STATES)}), axis=1)
    for row, line in enumerate(GRID):
        arrows = ["^>v<"[best[row * len(line) + column]] for column in range(len(line))]
        print("".join(c if c in "GO#" else arrow for c, arrow in zip(line, arrows)))


def main(_):
    tf.set_random_seed(1)
    random = np.random.RandomState(1)
    world, policy = GridWorld(), Policy()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        totals = []
        for episode in range(1, FLAGS.episodes + 1):
            states, moves, rewards = walk(sess, policy, world, random)
            feed = {policy.states: states, policy.moves: moves, policy.returns: discounted(rewards)}
            _, loss = sess.run([policy.train_op, policy.loss], feed)
            totals.append(sum(rewards))
            if episode % 100 == 0 or episode == FLAGS.episodes:
                average = np.mean(totals[-100:])
                print("episode %d: average reward %.3f, loss %.4f" % (episode, average, loss))
        show(sess, policy)


if __name__ == "__main__":
    tf.app.run()
