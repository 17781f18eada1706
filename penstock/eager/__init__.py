"""Eager execution: operations that run as they are made; docs/eager.md tells how."""
