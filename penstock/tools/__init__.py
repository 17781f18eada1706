"""`tensorflow.python.tools`: functions behind TensorFlow's command-line tools for graphs."""
