"""`tf.contrib.bayesflow`: expectations by sampling."""

from penstock.contrib.bayesflow import monte_carlo

__all__ = ["monte_carlo"]
