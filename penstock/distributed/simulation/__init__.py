"""Clusters in virtual time: the machines of masters and workers, without sockets and kernels."""
