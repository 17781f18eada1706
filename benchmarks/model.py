"""What a benchmark model is: a title, and a builder for every framework that it runs in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

Builder = Callable[[Any, str], "Program"]  # (the loaded framework, the variant) -> Program
Compile = Callable[[Callable[..., Any]], Callable[..., Any]]


@dataclass(frozen=True)
class Program:
    """A model built in one framework, its state at the initial values.

    1. `step` runs one step as a user would, and returns when all its effects are in memory.
    2. `observe` returns a number on which all frameworks must agree, most often the loss, and
       leaves the state alone.
    3. `replay` is a step whose effect is the same in every framework. It is given where `step`
       draws random numbers of its own; elsewhere it is `step`.
    """

    step: Callable[[], object]
    observe: Callable[[], float]
    replay: Callable[[], object] | None = None


@dataclass(frozen=True)
class Model:
    """One row of the table.

    steps: steps that a framework takes in one round.
    check_steps: steps between the two comparisons of `observe`; with 0 there is just one.
    tolerance: relative difference that the frameworks' observations may have.
    variants: of a framework with several natural formulations, their names; the fastest counts.
    memory: whether the peak memory of a step is a row, too.
    """

    title: str
    steps: int
    builders: Mapping[str, Builder]
    check_steps: int = 3
    tolerance: float = 1e-4
    variants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    memory: bool = False

    def variants_of(self, framework: str) -> tuple[str, ...]:
        return self.variants.get(framework, ("",))


def sessions(build: Callable[[Any], Program]) -> dict[str, Builder]:
    """Builders for Penstock and TensorFlow out of one function of the `tf` module."""
    return {name: lambda tf, variant: build(tf) for name in ("penstock", "tensorflow")}


def pytorch(build: Callable[[Any, str, Compile], Program]) -> dict[str, Builder]:
    """Builders for PyTorch, eager and compiled, out of one function that is given `compile`."""
    return {
        "torch": lambda torch, variant: build(torch, variant, lambda function: function),
        "torch-compiled": lambda torch, variant: build(
            torch, variant, partial(torch.compile, dynamic=False)
        ),
    }
