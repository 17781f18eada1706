"""TensorFlow's checkpoint files: tables, tensor bundles and the older slices, read and written."""
