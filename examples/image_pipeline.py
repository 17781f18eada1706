"""Images: drawn, written as PNG and JPEG, read back by tf.data, resized, flipped and distorted.

penstock run examples/image_pipeline.py --output_dir pictures
"""

import os
import tempfile

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("images", 8, "pictures to draw")
flags.DEFINE_integer("size", 48, "height and width that the pipeline makes of them")
flags.DEFINE_integer("batch_size", 4, "pictures per batch")
flags.DEFINE_string("output_dir", "", "folder for the pictures (default: a new one)")
FLAGS = flags.FLAGS


def draw(random):
    """A disc before a gradient, of a random colour and place."""
    height, width = random.randint(40, 80, size=2)
    y, x = np.mgrid[:height, :width]
    picture = np.stack([255 * x / width, 255 * y / height, np.full(x.shape, 128)], axis=2)
    inside = np.hypot(y - height * random.rand(), x - width * random.rand()) < 12
    picture[inside] = random.randint(256, size=3)
    return picture.astype(np.uint8)


def write_images(folder):
    """Every picture as a PNG file and as a JPEG file."""
    random = np.random.RandomState(1)
    image = tf.placeholder(tf.uint8, [None, None, 3])
    path = tf.placeholder(tf.string, [])
    as_png = tf.write_file(path + ".png", tf.image.encode_png(image))
    as_jpeg = tf.write_file(path + ".jpg", tf.image.encode_jpeg(image, quality=90))
    with tf.Session() as sess:
        for index in range(FLAGS.images):
            feed = {image: draw(random), path: os.path.join(folder, "picture%02d" % index)}
            sess.run([as_png, as_jpeg], feed)


def jpeg_error(folder):
    """How far the JPEG of the first picture is from its PNG, which is exact."""
    png = tf.image.decode_png(tf.read_file(os.path.join(folder, "picture00.png")))
    jpeg = tf.image.decode_jpeg(tf.read_file(os.path.join(folder, "picture00.jpg")))
    difference = tf.to_float(png) - tf.to_float(jpeg)
    with tf.Session() as sess:
        return sess.run(tf.reduce_mean(tf.abs(difference)))


def load(path):
    image = tf.image.decode_image(tf.read_file(path), channels=3)
    image.set_shape([None, None, 3])
    image = tf.image.convert_image_dtype(image, tf.float32)
    return tf.image.resize_images(image, [FLAGS.size + 8, FLAGS.size + 8])


def distort(image):
    image = tf.random_crop(image, [FLAGS.size, FLAGS.size, 3], seed=1)
    image = tf.image.random_flip_left_right(image, seed=2)
    image = tf.image.random_brightness(image, max_delta=0.2, seed=3)
    image = tf.image.random_saturation(image, lower=0.5, upper=1.5, seed=4)
    return tf.clip_by_value(image, 0.0, 1.0)


def contact_sheet(batch, path):
    """Writes the pictures of a batch side by side."""
    row = tf.concat(tf.unstack(batch), axis=1)
    return tf.write_file(path, tf.image.encode_png(tf.image.convert_image_dtype(row, tf.uint8)))


def main(_):
    folder = FLAGS.output_dir or tempfile.mkdtemp()
    tf.gfile.MakeDirs(folder)
    write_images(folder)
    print("JPEG differs from PNG by %.2f of 255 on average" % jpeg_error(folder))

    files = tf.data.Dataset.list_files(os.path.join(folder, "picture*"), shuffle=False)
    data = files.map(load).map(distort).batch(FLAGS.batch_size, drop_remainder=True)
    batch = data.make_one_shot_iterator().get_next()
    sheet = contact_sheet(batch, os.path.join(folder, "sheet.png"))
    with tf.Session() as sess:
        count = 0
        while True:
            try:
                pixels, _ = sess.run([batch, sheet])
            except tf.errors.OutOfRangeError:
                break
            count += len(pixels)
            print("batch %s, mean %.3f" % (pixels.shape, pixels.mean()))
    print("read %d pictures; the last batch is in sheet.png" % count)


if __name__ == "__main__":
    tf.app.run()
