"""Differentiation: gradients as further nodes of the graph."""
