"""What Keras' training under strategies checks and counts, before the steps of a model run."""
