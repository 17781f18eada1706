"""Kernels in Triton; imported by `with_triton.py` alone, where Triton is installed."""
