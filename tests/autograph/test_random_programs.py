"""Random programs of branches, loops and jumps: converted code gives what Python gives."""

import linecache
import random

import numpy as np
import pytest

import penstock as tf

VARIABLES = ("a", "b", "c")


class Writer:
    """Writes a function of integers that always ends.

    Args:
      chance: where it takes its decisions from.
      for_graph: whether tensors are to decide. Then loops have no `return`, and their tests are of
        `n`, which is never assigned: what starts as a Python loop can't become one of the graph.
    """

    def __init__(self, chance, *, for_graph):
        self.chance = chance
        self.for_graph = for_graph
        self.lines = ["def f(a, b, c, n):"]
        self.counters = 0

    def text(self):
        self.block(1, loops=0)
        return "\n".join([*self.lines, "    return a, b, c", ""])

    def add(self, depth, line):
        self.lines.append("    " * depth + line)

    def number(self):
        return self.chance.choice([*VARIABLES, str(self.chance.randint(-3, 4))])

    def test(self):
        one = f"{self.number()} {self.chance.choice(['<', '>=', '>'])} {self.number()}"
        other = f"{self.number()} < {self.number()}"
        return self.chance.choice(
            [one, one, f"{one} and {other}", f"{one} or {other}", f"not {one}"]
        )

    def block(self, depth, loops):
        for _ in range(self.chance.randint(1, 3)):
            self.statement(depth, loops)

    def statement(self, depth, loops):
        kinds = ["assign"] * 4
        if depth < 4:
            kinds += ["if", "if", "while", "for"]
        if loops:
            kinds += ["break", "continue"]
        if not self.for_graph:
            kinds += ["return", "try"] if depth < 4 else ["return"]
        getattr(self, self.chance.choice(kinds) + "_")(depth, loops)

    def assign_(self, depth, loops):
        target = self.chance.choice(VARIABLES)
        value = self.chance.choice(
            [
                f"{self.number()} + {self.number()}",
                f"{self.number()} - {self.number()}",
                f"{self.number()} if {self.test()} else {self.number()}",
            ]
        )
        self.add(depth, f"{target} = ({value}) % 100")

    def if_(self, depth, loops):
        self.add(depth, f"if {self.test()}:")
        self.block(depth + 1, loops)
        if self.chance.random() < 0.6:
            self.add(depth, "else:")
            self.block(depth + 1, loops)

    def while_(self, depth, loops):
        self.counters += 1
        counter = f"i{self.counters}"
        self.add(depth, f"{counter} = n % {self.chance.randint(1, 3)}")
        self.add(depth, f"while {counter} < 4:")
        self.add(depth + 1, f"{counter} += 1")
        self.end_of_loop(depth, loops)

    def for_(self, depth, loops):
        self.counters += 1
        self.add(depth, f"for j{self.counters} in range(n % {self.chance.randint(1, 4)}):")
        self.add(depth + 1, f"a = a + j{self.counters}")
        self.end_of_loop(depth, loops)

    def end_of_loop(self, depth, loops):
        self.block(depth + 1, loops + 1)
        if self.chance.random() < 0.3:
            self.add(depth, "else:")
            self.block(depth + 1, loops)

    def break_(self, depth, loops):
        self.add(depth, f"if {self.test()}:")
        self.assign_(depth + 1, loops)
        self.add(depth + 1, "break")

    def continue_(self, depth, loops):
        self.add(depth, f"if {self.test()}:")
        self.add(depth + 1, "continue")

    def return_(self, depth, loops):
        self.add(depth, f"if {self.test()}:")
        self.add(depth + 1, f"return {self.number()}, {self.number()}, 'early'")

    def try_(self, depth, loops):
        self.add(depth, "try:")
        self.add(depth + 1, f"a = 10 // ({self.number()})")
        self.block(depth + 1, loops)
        self.add(depth, "except ZeroDivisionError:")
        self.block(depth + 1, loops)
        if self.chance.random() < 0.5:
            self.add(depth, "else:")
            self.block(depth + 1, loops)
        self.add(depth, "finally:")
        self.add(depth + 1, "b = b + 1")


def program(seed, *, for_graph):
    """The function that a seed stands for, with a source that can be found."""
    text = Writer(random.Random(seed), for_graph=for_graph).text()
    name = f"<program {seed} {for_graph}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace = {}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


ARGUMENTS = [(0, 0, 0, 1), (1, 2, 3, 5), (5, -2, 1, 10), (-4, 3, 0, 3)]


@pytest.mark.parametrize("seed", range(40))
def test_python_values(seed):
    f = program(seed, for_graph=False)
    converted = tf.autograph.to_graph(f)
    for arguments in ARGUMENTS:
        assert converted(*arguments) == f(*arguments)


@pytest.mark.parametrize("seed", range(15))
def test_tensors(seed):
    f = program(seed, for_graph=True)
    places = [tf.placeholder(tf.int32, []) for _ in ARGUMENTS[0]]
    results = tf.autograph.to_graph(f)(*places)
    with tf.Session() as session:
        for arguments in ARGUMENTS:
            found = session.run(
                [tf.convert_to_tensor(each) for each in results],
                dict(zip(places, arguments, strict=True)),
            )
            np.testing.assert_array_equal(found, f(*arguments))
