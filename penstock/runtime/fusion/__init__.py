"""The fusion tier: regions of steps that ran often, compiled by Inductor (C++ or Triton)."""
