"""What TensorFlow 1.x's programs see of its graph optimiser, Grappler.

Steps are optimised when a session compiles them (`penstock.passes`). Here are the objects with
which a program looks at a MetaGraphDef: what its nodes give (`items`), what they cost on
devices (`clusters`), and its graph after rewriting (`rewriting`).
"""
