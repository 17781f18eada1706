"""Running steps: devices, kernels bound to nodes, plans, the dataflow executor."""
