"""Asynchronous advantage actor-critic (A3C): workers play, and update one policy as they go.

Each worker has an environment of its own. It copies the policy from the parameter server, plays a
few moves with the copy, and applies the gradient of what it saw to the shared policy, whatever the
others have done to that meanwhile. One command starts all tasks:

penstock launch --ps 1 --workers 2 examples/a3c.py

The environment is CartPole of the package gymnasium (pip install 'penstock[rl]'). Without it, or
with --environment balance, it is a pole on a cart of this file's own, with the same physics.
"""

import collections
import importlib.util
import json
import math
import os
import time

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_string("environment", "CartPole-v1", "a game of gymnasium, or balance")
flags.DEFINE_integer("steps", 30000, "updates after which to give up")
flags.DEFINE_float("target", 195.0, "average return of 50 games at which the game is learned")
flags.DEFINE_integer("moves", 20, "moves per update")
flags.DEFINE_integer("units", 64, "size of the hidden layer")
flags.DEFINE_float("discount", 0.99, "worth of a reward one move later")
flags.DEFINE_float("entropy", 0.01, "weight of the policy's entropy, which keeps it curious")
flags.DEFINE_float("learning_rate", 2e-3, "of Adam")
flags.DEFINE_string("model_dir", None, "where checkpoints go; without: there are none")
FLAGS = flags.FLAGS


class BalanceGame:
    """A pole on a cart, pushed left or right: 1 for each move until it falls, at most 500."""

    OBSERVED, MOVES = 4, 2

    def __init__(self, seed):
        self.random = np.random.RandomState(seed)

    def reset(self):
        self.state = self.random.uniform(-0.05, 0.05, size=4)
        self.played = 0
        return self.state

    def step(self, move):
        _, speed, angle, turning = self.state
        push = 10.0 if move == 1 else -10.0
        # A pole of 0.1 kg and half a length of 0.5 m on a cart of 1 kg; 0.02 s a move.
        shared = (push + 0.05 * turning**2 * math.sin(angle)) / 1.1
        turn = (9.8 * math.sin(angle) - math.cos(angle) * shared) / (
            0.5 * (4.0 / 3.0 - 0.1 * math.cos(angle) ** 2 / 1.1)
        )
        pull = shared - 0.05 * turn * math.cos(angle) / 1.1
        self.state = self.state + 0.02 * np.array([speed, pull, turning, turn])
        self.played += 1
        fallen = abs(self.state[0]) > 2.4 or abs(self.state[2]) > math.radians(12)
        return self.state, 1.0, fallen, self.played == 500


class GymnasiumGame:
    """A game of gymnasium, with numbers to see and a choice of moves."""

    def __init__(self, name, seed):
        import gymnasium

        self.game = gymnasium.make(name)
        self.seed = seed
        self.OBSERVED = self.game.observation_space.shape[0]
        self.MOVES = self.game.action_space.n

    def reset(self):
        seed, self.seed = self.seed, None  # for the first game; the others go on from there
        return self.game.reset(seed=seed)[0]

    def step(self, move):
        return self.game.step(move)[:4]


def make_game(seed):
    if FLAGS.environment == "balance":
        return BalanceGame(seed)
    if importlib.util.find_spec("gymnasium") is not None:
        return GymnasiumGame(FLAGS.environment, seed)
    remedy = "gymnasium is not installed (pip install 'penstock[rl]')"
    if FLAGS.environment != "CartPole-v1":
        raise SystemExit("%s, and %s is a game of it" % (remedy, FLAGS.environment))
    print("%s: playing a pole on a cart of this file's own" % remedy)
    return BalanceGame(seed)


class ActorCritic:
    """Probabilities of moves and the value of a state, in a scope of variables."""

    def __init__(self, scope, observed, moves):
        self.seen = tf.placeholder(tf.float32, [None, observed], name="seen")
        with tf.variable_scope(scope):
            actor = tf.layers.dense(self.seen, FLAGS.units, tf.nn.tanh, name="actor")
            self.logits = tf.layers.dense(actor, moves, name="logits")
            critic = tf.layers.dense(self.seen, FLAGS.units, tf.nn.tanh, name="critic")
            self.values = tf.squeeze(tf.layers.dense(critic, 1, name="value"), axis=1)
        self.move = tf.squeeze(tf.multinomial(self.logits, 1), axis=1)
        self.variables = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope + "/")

    def loss(self, moves, returns):
        advantages = tf.stop_gradient(returns - self.values)
        surprise = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=moves, logits=self.logits)
        log = tf.nn.log_softmax(self.logits)
        entropy = -tf.reduce_sum(tf.exp(log) * log, axis=1)
        return (
            tf.reduce_mean(surprise * advantages)
            + 0.5 * tf.reduce_mean(tf.square(returns - self.values))
            - FLAGS.entropy * tf.reduce_mean(entropy)
        )


class Player:
    """Plays games with a policy and remembers the last returns."""

    def __init__(self, game):
        self.game = game
        self.state = game.reset()
        self.total = 0.0
        self.returns = collections.deque(maxlen=50)

    def play(self, policy, sess):
        """A few moves, at most to the end of a game: what was seen, done, and worth it."""
        seen, moves, rewards = [], [], []
        over = False
        while len(moves) < FLAGS.moves and not over:
            move = sess.run(policy.move, {policy.seen: [self.state]})[0]
            seen.append(self.state)
            moves.append(move)
            self.state, reward, lost, cut = self.game.step(int(move))
            rewards.append(reward)
            over = lost or cut
        # A game that was cut off could have gone on, as one that is not over can.
        after = 0.0 if lost else sess.run(policy.values, {policy.seen: [self.state]})[0]
        self.count(rewards, over)
        return seen, moves, discounted(rewards, after)

    def count(self, rewards, over):
        self.total += sum(rewards)
        if over:
            self.returns.append(self.total)
            self.total = 0.0
            self.state = self.game.reset()

    @property
    def average(self):
        return np.mean(self.returns) if self.returns else 0.0


def discounted(rewards, after):
    """The return from each move on, given what the state after the last one is worth."""
    returns = []
    for reward in reversed(rewards):
        after = reward + FLAGS.discount * after
        returns.append(after)
    return returns[::-1]


def train(server, cluster, index):
    worker = "/job:worker/task:%d" % index
    game = make_game(seed=index)
    with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device=worker)):
        global_step = tf.train.get_or_create_global_step()
        shared = ActorCritic("shared", game.OBSERVED, game.MOVES)
        learned = tf.get_variable(
            "learned", [], tf.bool, tf.constant_initializer(False), trainable=False
        )
    with tf.device(worker):
        own = ActorCritic("own_%d" % index, game.OBSERVED, game.MOVES)
        moves = tf.placeholder(tf.int32, [None], name="moves")
        returns = tf.placeholder(tf.float32, [None], name="returns")
        gradients = tf.gradients(own.loss(moves, returns), own.variables)
        gradients, _ = tf.clip_by_global_norm(gradients, 0.5)
        copy = tf.group(*[to.assign(of) for to, of in zip(own.variables, shared.variables)])
    with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device=worker)):
        optimizer = tf.train.AdamOptimizer(FLAGS.learning_rate)
        update = optimizer.apply_gradients(zip(gradients, shared.variables), global_step)
        finish = learned.assign(True)

    # The copies are each worker's own: it makes them, and they are in nobody's checkpoints.
    shared_variables = [v for v in tf.global_variables() if v not in own.variables]
    scaffold = tf.train.Scaffold(
        init_op=tf.variables_initializer(shared_variables),
        ready_op=tf.report_uninitialized_variables(shared_variables),
        ready_for_local_init_op=tf.report_uninitialized_variables(shared_variables),
        local_init_op=copy,
        saver=tf.train.Saver(shared_variables),
    )
    config = tf.ConfigProto(device_filters=["/job:ps", worker])
    player, began = Player(game), time.time()
    with tf.train.MonitoredTrainingSession(
        server.target,
        index == 0,
        FLAGS.model_dir,
        scaffold,
        config=config,
    ) as sess:
        done, updates, step = False, 0, 0
        # A StopAtStepHook could ask for the end in the middle of a game.
        while not (sess.should_stop() or done or step >= FLAGS.steps):
            sess.run(copy)
            seen, chosen, worth = player.play(own, sess)
            feed = {own.seen: seen, moves: chosen, returns: worth}
            _, step, done = sess.run([update, global_step, learned], feed)
            updates += 1
            if updates % 200 == 0:
                print("update %d: average return %.1f" % (step, player.average))
            if len(player.returns) == 50 and player.average >= FLAGS.target:
                done = sess.run(finish)
                print("learned at update %d: average return %.1f" % (step, player.average))
    print("its %d updates took %.0f s" % (updates, time.time() - began))


def main(_):
    place = json.loads(os.environ.get("TF_CONFIG", "{}"))
    if not place:
        raise SystemExit("Start this with penstock launch (see the top of the file).")
    cluster = tf.train.ClusterSpec(place["cluster"])
    job, index = place["task"]["type"], place["task"]["index"]
    server = tf.train.Server(cluster, job_name=job, task_index=index)
    if job == "ps":
        server.join()
    else:
        train(server, cluster, index)


if __name__ == "__main__":
    tf.app.run()
