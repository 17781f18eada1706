"""Linear models trained by stochastic dual coordinate ascent."""
