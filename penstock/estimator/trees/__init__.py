"""Boosted trees: the resources that they live in, how they grow, and the estimators."""
