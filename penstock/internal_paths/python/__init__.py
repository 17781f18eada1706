"""What `tensorflow.python.util` offers to Python code, each module under a name of its own here."""
