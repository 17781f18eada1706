"""The commands of a debugging session as a history to go back and forward in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.debugger.menus import MenuItem
from penstock.debugger.rich_text import (
    RichLine,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)

RL = RichLine


@dataclass
class NavigationHistoryItem:
    """A command, what it showed, and how far that was scrolled."""

    command: str
    screen_output: Any
    scroll_position: int


class CursesNavigationHistory:
    """The last commands, of which one is shown.

    Args:
      capacity: how many commands are kept.
    """

    BACK_ARROW_TEXT = "<--"
    FORWARD_ARROW_TEXT = "-->"

    def __init__(self, capacity: int):
        if capacity <= 0:
            raise ValueError(f"In valid capacity value: {capacity}")
        self._capacity = capacity
        self._items: list[NavigationHistoryItem] = []
        self._pointer = -1

    def add_item(self, command: str, screen_output: Any, scroll_position: int) -> None:
        """Adds a command behind the one that is shown; those that were behind it are forgotten."""
        kept = self._items[: self._pointer + 1]
        kept.append(NavigationHistoryItem(command, screen_output, scroll_position))
        self._items = kept[-self._capacity :]
        self._pointer = len(self._items) - 1

    def update_scroll_position(self, new_scroll_position: int) -> None:
        """Notes how far the shown command is scrolled."""
        self._shown().scroll_position = new_scroll_position

    def _shown(self) -> NavigationHistoryItem:
        if not self._items:
            raise ValueError("Empty navigation history")
        return self._items[self._pointer]

    def size(self) -> int:
        return len(self._items)

    def pointer(self) -> int:
        """The position of the shown command."""
        return self._pointer

    def can_go_back(self) -> bool:
        return self._pointer >= 1

    def can_go_forward(self) -> bool:
        return self._pointer + 1 < len(self._items)

    def go_back(self) -> NavigationHistoryItem:
        """Shows the command before, if there is one, and returns what is shown."""
        self._shown()
        self._pointer -= self.can_go_back()
        return self._shown()

    def go_forward(self) -> NavigationHistoryItem:
        """Shows the next command, if there is one, and returns what is shown."""
        self._shown()
        self._pointer += self.can_go_forward()
        return self._shown()

    def render(
        self,
        max_length: int,
        backward_command: str,
        forward_command: str,
        latest_command_attribute: str = "black_on_white",
        old_command_attribute: str = "magenta_on_white",
    ) -> RichTextLines:
        """A line with arrows to click on and the shown command, as far as it fits."""
        back = MenuItem("", backward_command) if self.can_go_back() else None
        forward = MenuItem("", forward_command) if self.can_go_forward() else None
        line = RL("| ") + RL(self.BACK_ARROW_TEXT, back) + RL(" ")
        line += RL(self.FORWARD_ARROW_TEXT, forward)
        if self._items:
            behind = len(self._items) - 1 - self._pointer
            font = old_command_attribute if behind else latest_command_attribute
            line += RL(" | ")
            if behind:
                line += RL(f"(-{behind}) ", font)
            room = max_length - len(line)
            if room > 0:
                line += RL(self._shown().command[:room], font)
        return rich_text_lines_from_rich_line_list([line])
