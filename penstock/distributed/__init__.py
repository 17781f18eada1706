"""Clusters: the tasks of a job and where they are, and the servers that run in them."""
