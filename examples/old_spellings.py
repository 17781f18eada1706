"""A program of 2015, in Python 2 and with the names of TensorFlow 0.x: fits a plane to points.

    penstock run --py2 examples/old_spellings.py --steps 200
"""

import tempfile

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer('steps', 200, 'training steps')
flags.DEFINE_string('logdir', '', 'folder for summaries (default: a new one)')
FLAGS = flags.FLAGS


def make_points(count):
  random = np.random.RandomState(1)
  x = random.rand(2, count).astype('float32')
  return x, np.dot([0.1, 0.2], x).astype('float32') + 0.3


def main(_):
  x_data, y_data = make_points(100)
  rows = [tf.constant(row) for row in x_data]
  points = tf.pack(rows)
  assert [row.get_shape() for row in tf.unpack(points)] == [row.get_shape() for row in rows]

  b = tf.Variable(tf.zeros([1]), name='b')
  w = tf.Variable(tf.random_uniform([1, 2], -1.0, 1.0, seed=1), name='w')
  error = tf.sub(tf.add(tf.matmul(w, points), b), y_data)
  loss = tf.reduce_mean(tf.mul(error, error))
  train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)

  tf.scalar_summary('loss', loss)
  tf.histogram_summary('w', w)
  summaries = tf.merge_all_summaries()

  with tf.Session() as sess:
    sess.run(tf.initialize_all_variables())
    writer = tf.train.SummaryWriter(FLAGS.logdir or tempfile.mkdtemp(), sess.graph)
    for step in xrange(FLAGS.steps + 1):
      if step % (FLAGS.steps / 4) == 0:
        print 'step', step, 'loss %.6f' % sess.run(loss)
        writer.add_summary(sess.run(summaries), step)
      sess.run(train)
    found = {v.op.name: sess.run(v).ravel() for v in tf.all_variables()}
    for name, values in sorted(found.iteritems()):
      print '%s = %s' % (name, ', '.join('%.2f' % value for value in values))
    writer.close()


if __name__ == '__main__':
  tf.app.run()
