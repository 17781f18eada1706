"""Penstock measured against its peers: `python -m benchmarks.run`, README.md says how and why."""
