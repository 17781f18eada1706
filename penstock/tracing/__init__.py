"""Traces of steps, in the forms that viewers read."""
