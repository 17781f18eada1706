"""Penstock measured against its peers: `python benchmarks/run.py`, README.md says how and why."""
