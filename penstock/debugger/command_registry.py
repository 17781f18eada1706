"""Commands of the debugger by their prefixes, their help, completions, and their history."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from penstock.debugger.rich_text import RichTextLines, get_tensorflow_version_lines

__all__ = [
    "EXPLICIT_USER_EXIT",
    "HELP_INDENT",
    "CommandHandlerRegistry",
    "CommandHistory",
    "CommandLineExit",
    "TabCompletionRegistry",
]

HELP_INDENT = "  "
EXPLICIT_USER_EXIT = "explicit_user_exit"


class CommandLineExit(Exception):
    """Ends the loop that reads commands; `exit_token` is what that loop returns."""

    def __init__(self, exit_token: Any = None):
        super().__init__()
        self._exit_token = exit_token

    @property
    def exit_token(self) -> Any:
        return self._exit_token


class CommandHandlerRegistry:
    """The functions that handle commands, by the commands' first words and their aliases."""

    HELP_COMMAND = "help"
    HELP_COMMAND_ALIASES: ClassVar[list[str]] = ["h"]
    VERSION_COMMAND = "version"
    VERSION_COMMAND_ALIASES: ClassVar[list[str]] = ["ver"]

    def __init__(self) -> None:
        self._handlers: dict[str, Callable[..., Any]] = {}
        self._help_texts: dict[str, str] = {}
        self._aliases: dict[str, Sequence[str]] = {}
        self._prefix_of_alias: dict[str, str] = {}
        self._help_intro: RichTextLines | None = None
        self.register_command_handler(
            self.HELP_COMMAND,
            self._help_handler,
            "Print this help message.",
            prefix_aliases=self.HELP_COMMAND_ALIASES,
        )
        self.register_command_handler(
            self.VERSION_COMMAND,
            self._version_handler,
            "Print the versions of TensorFlow and its key dependencies.",
            prefix_aliases=self.VERSION_COMMAND_ALIASES,
        )

    def register_command_handler(
        self,
        prefix: str,
        handler: Callable[..., Any],
        help_info: str,
        prefix_aliases: Sequence[str] | None = None,
    ) -> None:
        """Lets a function of (arguments, screen_info) handle the commands that begin with a word.

        It returns `RichTextLines`, or None.
        """
        if not prefix:
            raise ValueError("Empty command prefix")
        if prefix in self._handlers:
            raise ValueError(f'A handler is already registered for command prefix "{prefix}"')
        if not callable(handler):
            raise ValueError("handler is not callable")
        if not isinstance(help_info, str):
            raise ValueError("help_info is not a str")
        for alias in prefix_aliases or ():
            if self._resolved(alias):
                raise ValueError(
                    f'The prefix alias "{alias}" clashes with existing prefixes or aliases.'
                )
            self._prefix_of_alias[alias] = prefix
        if prefix_aliases:
            self._aliases[prefix] = prefix_aliases
        self._handlers[prefix] = handler
        self._help_texts[prefix] = help_info

    def dispatch_command(self, prefix: str, argv: Sequence[str], screen_info: Any = None) -> Any:
        """What a command's handler gives; an error in it becomes lines, too."""
        if not prefix:
            raise ValueError("Prefix is empty")
        resolved = self._resolved(prefix)
        if not resolved:
            raise ValueError(f'No handler is registered for command prefix "{prefix}"')
        handler = self._handlers[resolved]
        try:
            output = handler(argv, screen_info=screen_info)
        except CommandLineExit:
            raise
        except SystemExit:  # of an argument parser
            output = RichTextLines(
                [f"Syntax error for command: {prefix}", f'For help, do "help {prefix}"']
            )
        except BaseException as error:
            told = f"Error occurred during handling of command: {resolved} {' '.join(argv)}:"
            lines = [told, f"{type(error)}: {error}", "", *traceback.format_exc().split("\n")]
            output = RichTextLines(lines)
        if output is not None and not isinstance(output, RichTextLines):
            raise ValueError(
                f"Return value from command handler {handler} is not None or a RichTextLines "
                "instance"
            )
        return output

    def is_registered(self, prefix: str) -> bool:
        return self._resolved(prefix) is not None

    def get_help(self, cmd_prefix: str | None = None) -> RichTextLines:
        """The help of one command, or of all."""
        if cmd_prefix:
            return RichTextLines(self._help_for(cmd_prefix))
        found = RichTextLines([])
        if self._help_intro:
            found.extend(self._help_intro)
        for prefix in sorted(self._handlers):
            found.extend(RichTextLines([*self._help_for(prefix), "", ""]))
        return found

    def set_help_intro(self, help_intro: RichTextLines) -> None:
        """What the help of all commands begins with."""
        self._help_intro = help_intro

    def _help_handler(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        if len(args) > 1:
            return RichTextLines(["ERROR: help takes only 0 or 1 input argument."])
        return self.get_help(args[0] if args else None)

    def _version_handler(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        return get_tensorflow_version_lines(include_dependency_versions=True)

    def _resolved(self, token: str) -> str | None:
        return token if token in self._handlers else self._prefix_of_alias.get(token)

    def _help_for(self, prefix: str) -> list[str]:
        resolved = self._resolved(prefix)
        if not resolved:
            return [f'Invalid command prefix: "{prefix}"']
        lines = [resolved]
        if resolved in self._aliases:
            lines.append(f"{HELP_INDENT}Aliases: {', '.join(self._aliases[resolved])}")
        return [
            *lines,
            "",
            *(HELP_INDENT + line for line in self._help_texts[resolved].split("\n")),
        ]


class TabCompletionRegistry:
    """Words that can follow a context word, such as the nodes' names that follow a command."""

    def __init__(self) -> None:
        self._items: dict[str, list[str]] = {}

    def register_tab_comp_context(self, context_words: list[str], comp_items: list[str]) -> None:
        """Sets the words that can follow each of some context words."""
        for name, given in (("context_list", context_words), ("comp_items", comp_items)):
            if not isinstance(given, list):
                raise TypeError(f"Incorrect type in {name}: Expected list, got {type(given)}")
        for word in context_words:
            self._items[word] = sorted(comp_items)

    def deregister_context(self, context_words: Sequence[str]) -> None:
        """Forgets context words, all of which must be known."""
        for word in context_words:
            if word not in self._items:
                raise KeyError(f'Cannot deregister unregistered context word "{word}"')
        for word in context_words:
            del self._items[word]

    def _known(self, context_word: str) -> list[str]:
        if context_word not in self._items:
            raise KeyError(f'Context word "{context_word}" has not been registered')
        return self._items[context_word]

    def extend_comp_items(self, context_word: str, new_comp_items: Sequence[str]) -> None:
        """Adds words that can follow a context word."""
        self._items[context_word] = sorted([*self._known(context_word), *new_comp_items])

    def remove_comp_items(self, context_word: str, comp_items: Sequence[str]) -> None:
        """Takes words away that can follow a context word."""
        for item in comp_items:
            self._known(context_word).remove(item)

    def get_completions(
        self, context_word: str, prefix: str
    ) -> tuple[list[str] | None, str | None]:
        """The words that go on from a prefix, and how far they are alike."""
        if context_word not in self._items:
            return None, None
        items = sorted(item for item in self._items[context_word] if item.startswith(prefix))
        return items, _beginning_of_all(items)


def _beginning_of_all(items: Sequence[str]) -> str:
    """How far words in alphabetical order are alike: as far as the first and the last are."""
    if not items:
        return ""
    first, last = items[0], items[-1]
    alike = next((i for i, letter in enumerate(first) if letter != last[i]), len(first))
    return first[:alike]


class CommandHistory:
    """The last commands, which are kept in a file."""

    _HISTORY_FILE_NAME = ".tfdbg_history"

    def __init__(self, limit: int = 100, history_file_path: str | None = None):
        self._commands: list[str] = []
        self._limit = limit
        self._history_file_path = history_file_path or self._get_default_history_file_path()
        self._load_history_from_file()

    @classmethod
    def _get_default_history_file_path(cls) -> str:
        return os.path.join(os.path.expanduser("~"), cls._HISTORY_FILE_NAME)

    def _load_history_from_file(self) -> None:
        if not os.path.isfile(self._history_file_path):
            return
        try:
            with open(self._history_file_path, encoding="utf-8") as file:
                commands = [line.strip() for line in file if line.strip()]
            self._commands = commands[-self._limit :]
            if len(commands) > self._limit:
                with open(self._history_file_path, "w", encoding="utf-8") as file:
                    file.writelines(f"{command}\n" for command in self._commands)
        except OSError:
            sys.stdout.write("WARNING: writing history file failed.\n")

    def _add_command_to_history_file(self, command: str) -> None:
        try:
            with open(self._history_file_path, "a", encoding="utf-8") as file:
                file.write(command + "\n")
        except OSError:
            pass  # the history of this process goes on without

    def add_command(self, command: str) -> None:
        """Adds a command, unless it is the last one again."""
        if self._commands and command == self._commands[-1]:
            return
        if not isinstance(command, str):
            raise TypeError("Attempt to enter non-str entry to command history")
        self._commands = [*self._commands, command][-self._limit :]
        self._add_command_to_history_file(command)

    def most_recent_n(self, n: int) -> list[str]:
        """The last n commands."""
        return self._commands[-n:]

    def lookup_prefix(self, prefix: str, n: int) -> list[str]:
        """The last n commands that begin with a prefix."""
        return [command for command in self._commands if command.startswith(prefix)][-n:]
