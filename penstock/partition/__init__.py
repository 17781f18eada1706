"""Cutting a placed step into one graph per device, joined by Send and Recv."""
