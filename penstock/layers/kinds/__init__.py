"""What each kind of layer computes, whichever way it names and keeps its variables.

A class here becomes a layer by joining it with one: `class Dense(kinds.dense.Dense, Layer)`.
"""
