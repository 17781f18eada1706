"""Names for what conversion adds to a program."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any


class Namer:
    """Gives names that are not in use.

    Args:
      global_namespace: the names that are taken.
    """

    def __init__(self, global_namespace: Container[str]):
        self.global_namespace = global_namespace
        self.generated_names: set[str] = set()

    def class_name(self, original_fqn: Any) -> str:
        """The name of a converted class."""
        name = "_".join(_parts(original_fqn))
        return self.new_symbol(f"Tf{name[:1].upper()}{name[1:]}", ())

    def function_name(self, original_fqn: Any) -> str:
        """The name of a converted function."""
        return self.new_symbol(f"tf__{'__'.join(_parts(original_fqn))}", ())

    def new_symbol(self, name_root: str, reserved_locals: Iterable[Any]) -> str:
        """A new name that begins with `name_root`."""
        taken = {str(each) for each in reserved_locals}
        root, _, number = name_root.rpartition("_")
        root, count = (root, int(number)) if root and number.isdecimal() else (name_root, 0)
        name = name_root
        while name in self.global_namespace or name in taken or name in self.generated_names:
            count += 1
            name = f"{root}_{count}"
        self.generated_names.add(name)
        return name


def _parts(name: Any) -> tuple[str, ...]:
    return tuple(name) if isinstance(name, tuple) else tuple(str(name).split("."))
