"""Every op type against TensorFlow's kernel of it: `python -m benchmarks.ops`."""
