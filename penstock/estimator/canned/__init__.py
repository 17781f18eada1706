"""Estimators whose models are made already."""
