"""The path by which programs reach inside of `tf.contrib.framework`."""
