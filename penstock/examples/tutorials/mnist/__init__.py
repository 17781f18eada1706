"""Handwritten digits: the data (`input_data`) and a small fully connected model (`mnist`)."""

from penstock.examples.tutorials.mnist import input_data, mnist

__all__ = ["input_data", "mnist"]
