"""Deciding which device runs each node."""
