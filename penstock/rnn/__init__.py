"""Recurrent networks: cells, and the functions that run them over time."""
