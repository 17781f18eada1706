"""An input pipeline of pictures: 32 JPEG files of 320 × 240 decoded, resized, put into a batch."""

from typing import Any

import numpy as np

from benchmarks.model import Model, Program, sessions
from benchmarks.training import open_session

PICTURES, HEIGHT, WIDTH, BATCH = 64, 240, 320, 32
SIZE = (128, 128)


def pictures() -> np.ndarray:
    """Colored squares, which compress as photographs do rather than as noise."""
    rng = np.random.default_rng(5)
    squares = rng.integers(0, 256, (PICTURES, HEIGHT // 10, WIDTH // 10, 3), np.uint8)
    return squares.repeat(10, axis=1).repeat(10, axis=2)


def build_session(tf: Any) -> Program:
    session = open_session(tf)
    picture = tf.placeholder(tf.uint8, [HEIGHT, WIDTH, 3])
    encoded = tf.image.encode_jpeg(picture, quality=90)
    files = [session.run(encoded, {picture: each}) for each in pictures()]
    dataset = tf.data.Dataset.from_tensor_slices(tf.constant(files))

    def decoded(file: Any) -> Any:
        return tf.image.resize_images(tf.image.decode_jpeg(file, channels=3), SIZE)

    batches = dataset.repeat().map(decoded, num_parallel_calls=2).batch(BATCH)
    batch = batches.make_one_shot_iterator().get_next()
    total = dataset.map(decoded).map(tf.reduce_mean).reduce(0.0, lambda sum, each: sum + each)
    return Program(lambda: session.run(batch), lambda: float(session.run(total)))


MODEL = Model(
    title=f"{BATCH} JPEG files decoded and resized",
    steps=10,
    check_steps=0,
    tolerance=1e-3,
    builders=sessions(build_session),
)
