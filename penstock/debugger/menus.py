"""Menus of the debugger: captions, and the commands that they stand for."""

from __future__ import annotations

from typing import Any

from penstock.debugger.rich_text import RichTextLines

__all__ = ["INIT_SCROLL_POS_KEY", "MAIN_MENU_KEY", "Menu", "MenuItem"]

INIT_SCROLL_POS_KEY = "init_scroll_pos"
MAIN_MENU_KEY = "mm:"


class MenuItem:
    """A caption and the command that it stands for."""

    def __init__(self, caption: str, content: str, enabled: bool = True):
        self._caption, self._content, self._enabled = caption, content, enabled

    @property
    def caption(self) -> str:
        return self._caption

    @property
    def content(self) -> str:
        return self._content

    def is_enabled(self) -> bool:
        return self._enabled

    def disable(self) -> None:
        self._enabled = False

    def enable(self) -> None:
        self._enabled = True


class Menu:
    """Items in a row."""

    def __init__(self, name: str | None = None):
        self._name = name
        self._items: list[MenuItem] = []

    def append(self, item: MenuItem) -> None:
        self._items.append(item)

    def insert(self, index: int, item: MenuItem) -> None:
        self._items.insert(index, item)

    def num_items(self) -> int:
        return len(self._items)

    def captions(self) -> list[str]:
        return [item.caption for item in self._items]

    def caption_to_item(self, caption: str) -> MenuItem:
        """The first item with a caption."""
        for item in self._items:
            if item.caption == caption:
                return item
        raise LookupError(f'There is no menu item with the caption "{caption}"')

    def format_as_single_line(
        self,
        prefix: str | None = None,
        divider: str = " | ",
        enabled_item_attrs: Any = None,
        disabled_item_attrs: Any = None,
    ) -> RichTextLines:
        """A line of all captions; those of enabled items have their item as an attribute."""
        enabled, disabled = _as_list(enabled_item_attrs), _as_list(disabled_item_attrs)
        line = prefix or ""
        segments = []
        for item in self._items:
            attributes = [item, *enabled] if item.is_enabled() else disabled
            if attributes:
                segments.append((len(line), len(line) + len(item.caption), attributes))
            line += item.caption + divider
        return RichTextLines(line, font_attr_segs={0: segments})


def _as_list(attributes: Any) -> list[Any]:
    if attributes is None:
        return []
    return attributes if isinstance(attributes, list) else [attributes]
