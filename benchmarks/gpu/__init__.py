"""Training steps of image networks on a GPU: `python -m benchmarks.gpu`, GPU.md says how."""
