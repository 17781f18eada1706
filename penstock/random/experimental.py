"""`tf.random.experimental`: generators that keep their state in a variable."""

from penstock.random.generator import (
    Generator,
    create_rng_state,
    get_global_generator,
    set_global_generator,
)

__all__ = [
    "Generator",
    "create_rng_state",
    "get_global_generator",
    "set_global_generator",
]
