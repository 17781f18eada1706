"""A loop that reads commands of the debugger and shows what they give."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from penstock.debugger import command_words
from penstock.debugger.command_registry import (
    EXPLICIT_USER_EXIT,
    CommandHandlerRegistry,
    CommandLineExit,
    TabCompletionRegistry,
)
from penstock.debugger.rich_text import RichTextLines
from penstock.debugger.settings import CLIConfig

__all__ = ["SUPPORTED_UI_TYPES", "BaseUI", "ReadlineUI", "get_ui"]

SUPPORTED_UI_TYPES = ["curses", "readline"]


class BaseUI:
    """Commands with their handlers, completions and settings; `run_ui` is a subclass's."""

    CLI_PROMPT = "tfdbg> "
    CLI_EXIT_COMMANDS: ClassVar[list[str]] = ["exit", "quit"]
    ERROR_MESSAGE_PREFIX = "ERROR: "
    INFO_MESSAGE_PREFIX = "INFO: "

    def __init__(self, on_ui_exit: Callable[[], Any] | None = None, config: Any = None):
        self._on_ui_exit = on_ui_exit
        self._command_handler_registry = CommandHandlerRegistry()
        self._tab_completion_registry = TabCompletionRegistry()
        registry = CommandHandlerRegistry
        first_words = [
            *self.CLI_EXIT_COMMANDS,
            registry.HELP_COMMAND,
            *registry.HELP_COMMAND_ALIASES,
        ]
        self._tab_completion_registry.register_tab_comp_context([""], first_words)
        self._config = config or CLIConfig()
        self._config_argparser = _config_parser()
        self.register_command_handler(
            "config",
            self._config_command_handler,
            self._config_argparser.format_help(),
            prefix_aliases=["cfg"],
        )

    def set_help_intro(self, help_intro: RichTextLines) -> None:
        """What the help of all commands begins with."""
        self._command_handler_registry.set_help_intro(help_intro=help_intro)

    def register_command_handler(
        self,
        prefix: str,
        handler: Callable[..., Any],
        help_info: str,
        prefix_aliases: Sequence[str] | None = None,
    ) -> None:
        """As `CommandHandlerRegistry.register_command_handler`; the command is completed, too."""
        self._command_handler_registry.register_command_handler(
            prefix, handler, help_info, prefix_aliases=prefix_aliases
        )
        self._tab_completion_registry.extend_comp_items("", [prefix, *(prefix_aliases or ())])

    def register_tab_comp_context(self, *args: Any, **kwargs: Any) -> None:
        """As `TabCompletionRegistry.register_tab_comp_context`."""
        self._tab_completion_registry.register_tab_comp_context(*args, **kwargs)

    def run_ui(
        self,
        init_command: str | None = None,
        title: str | None = None,
        title_color: str | None = None,
        enable_mouse_on_start: bool = True,
    ) -> Any:
        """Reads commands until one ends the loop; gives that one's token."""
        raise NotImplementedError("run_ui() is not implemented in BaseUI")

    @property
    def config(self) -> Any:
        return self._config

    def _parse_command(self, command: str) -> tuple[str, list[str], str | None]:
        """A command's first word, the others, and the file that its output goes to."""
        if not command.strip():
            return "", [], None
        words = command_words.parse_command(command.strip())
        words, path = command_words.extract_output_file_path(words)
        return words[0], words[1:], path

    def _analyze_tab_complete_input(self, text: str) -> tuple[str, str, str]:
        """The first word, the last one that is to be completed, and all before it."""
        *before, last = text.lstrip().split(" ")
        return (before[0] if before else ""), last, "".join(f"{word} " for word in before)

    def _config_command_handler(self, args: Any, screen_info: Any = None) -> RichTextLines:
        parsed = self._config_argparser.parse_args(args)
        changed: str | None = getattr(parsed, "property_name", None)
        if changed is not None:
            self._config.set(changed, parsed.property_value)
        found: RichTextLines = self._config.summarize(highlight=changed)
        return found


def _config_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="config command", usage=argparse.SUPPRESS)
    commands = parser.add_subparsers()
    setting = commands.add_parser("set")
    setting.add_argument("property_name", type=str)
    setting.add_argument("property_value", type=str)
    commands.add_parser("show")
    return parser


class ReadlineUI(BaseUI):
    """Reads commands as lines, with completions where Python has the readline module."""

    def __init__(self, on_ui_exit: Callable[[], Any] | None = None, config: Any = None):
        super().__init__(on_ui_exit=on_ui_exit, config=config)
        self._init_input()

    def _init_input(self) -> None:
        import readline

        readline.parse_and_bind("set editing-mode emacs")
        readline.set_completer_delims("\n")
        readline.set_completer(self._readline_complete)
        readline.parse_and_bind("tab: complete")
        self._input = input

    def _readline_complete(self, text: str, state: int) -> str:
        context, prefix, before = self._analyze_tab_complete_input(text)
        found, _ = self._tab_completion_registry.get_completions(context, prefix)
        return before + (found or [])[state]

    def run_ui(
        self,
        init_command: str | None = None,
        title: str | None = None,
        title_color: str | None = None,
        enable_mouse_on_start: bool = True,
    ) -> Any:
        """Reads commands until one ends the loop; gives that one's token."""
        _show(title)
        if init_command is not None:
            self._dispatch_command(init_command)
        token = None
        while token is None:
            token = self._dispatch_command(self._get_user_command())
        if self._on_ui_exit:
            self._on_ui_exit()
        return token

    def _get_user_command(self) -> str:
        _show("")
        return self._input(self.CLI_PROMPT).strip()

    def _dispatch_command(self, command: str) -> Any:
        """Handles a command; gives a token if it ends the loop."""
        if command in self.CLI_EXIT_COMMANDS:
            return EXPLICIT_USER_EXIT
        try:
            prefix, args, path = self._parse_command(command)
        except SyntaxError as error:
            _show(error)
            return None
        output: Any = RichTextLines(
            [f'{self.ERROR_MESSAGE_PREFIX}Invalid command prefix "{prefix}"']
        )
        if self._command_handler_registry.is_registered(prefix):
            try:
                output = self._command_handler_registry.dispatch_command(prefix, args)
            except CommandLineExit as ended:
                return ended.exit_token
        for line in output.lines if output is not None else ():
            _show(line)
        if path:
            _write(output, path)
        return None


def _show(line: Any) -> None:
    sys.stdout.write(f"{line}\n")


def _write(output: RichTextLines, path: str) -> None:
    try:
        output.write_to_file(path)
    except Exception:
        _show(f"Failed to write output to {path}")
    else:
        _show(f"Wrote output to {path}")


def get_ui(
    ui_type: str | None,
    on_ui_exit: Callable[[], Any] | None = None,
    available_ui_types: Sequence[str] | None = None,
    config: Any = None,
) -> BaseUI:
    """A loop for commands: lines, also where a full screen was asked for."""
    available = SUPPORTED_UI_TYPES if available_ui_types is None else available_ui_types
    if ui_type and ui_type not in available:
        raise ValueError(f"Invalid ui_type: '{ui_type}'")
    if "readline" not in available:
        raise ValueError("Exhausted all fallback ui_types.")
    return ReadlineUI(on_ui_exit=on_ui_exit, config=config)
