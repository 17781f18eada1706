"""From the code of a function to code that calls operators: small steps, each with a `transform`.

`pipeline.STEPS` lists them in their order. Every step takes and gives the syntax tree of one
function, and leaves each node at the line of the program that it comes from, so that tracebacks of
converted code are those of the program.
"""
