"""`LocalCLIDebugWrapperSession`: a debugger that is asked for commands before and after each run.

Commands are lines of the standard input, so that they can come from a file or a pipe as well as
from a terminal. Where the input ends, the program goes on without the debugger.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from penstock import proto
from penstock.debugger import command_lines, command_words, dump_analyzer, profile_screens, screens
from penstock.debugger.command_registry import EXPLICIT_USER_EXIT, CommandLineExit
from penstock.debugger.dump_folder import DebugDumpDir
from penstock.debugger.dumped_tensors import has_inf_or_nan
from penstock.debugger.dumping import check_dump_root
from penstock.debugger.menus import MAIN_MENU_KEY, MenuItem
from penstock.debugger.rich_text import RichTextLines, get_tensorflow_version_lines
from penstock.debugger.run_keys import get_graph_element_name
from penstock.debugger.settings import CLIConfig
from penstock.debugger.wrapper_session import (
    BaseDebugWrapperSession,
    OnRunEndRequest,
    OnRunEndResponse,
    OnRunStartAction,
    OnRunStartRequest,
    OnRunStartResponse,
    OnSessionInitAction,
    OnSessionInitRequest,
    OnSessionInitResponse,
)
from penstock.train.session_run_hook import SessionRunArgs, SessionRunHook

TensorFilter = Callable[[Any, Any], bool]

_PLAIN_RUN = OnRunStartResponse(OnRunStartAction.NON_DEBUG_RUN, [])


def _parsers() -> dict[str, argparse.ArgumentParser]:
    """The parsers of the commands that are there before and after a run."""
    run = argparse.ArgumentParser(
        description="Goes on, with or without watching tensors.", usage=argparse.SUPPRESS
    )
    add = run.add_argument
    add("-t", "--times", type=int, default=1, help="how many runs to go on for")
    add("-n", "--no_debug", action="store_true", help="without watching")
    add("-f", "--till_filter_pass", default="", help="until a tensor passes this filter")
    add(
        "-fenn",
        "--filter_exclude_node_names",
        default="",
        help="with -f: a regular expression of nodes to leave out",
    )
    for what in ("node_name", "op_type", "tensor_dtype"):
        add(f"--{what}_filter", help=f"watch tensors of this {what.replace('_', ' ')} alone")
    add("-p", "--profile", action="store_true", help="with the times of nodes")
    return {
        "run": run,
        "run_info": argparse.ArgumentParser(
            description="Tells what is run.", usage=argparse.SUPPRESS
        ),
        "print_feed": command_words.get_print_tensor_argparser("Shows a fed value."),
    }


class LocalCLIDebugWrapperSession(BaseDebugWrapperSession):
    """A session that stops before and after its runs and takes commands from standard input.

    >>> sess = tf_debug.LocalCLIDebugWrapperSession(sess)
    >>> sess.run(train_op)
    tfdbg> run -f has_inf_or_nan

    Args:
      sess: the session to run with.
      dump_root: where tensors are written during a run; a folder of its own if None.
      log_usage: not used.
      ui_type: "curses" or "readline"; both read lines.
      thread_name_filter: a pattern; runs from threads of other names are left alone.
      config_file_path: the file with the settings of the command line.
    """

    def __init__(
        self,
        sess: Any,
        dump_root: str | None = None,
        log_usage: bool = True,
        ui_type: str = "curses",
        thread_name_filter: str | None = None,
        config_file_path: Any = False,
    ):
        super().__init__(sess, thread_name_filter=thread_name_filter)
        if dump_root:
            dump_root = os.path.expanduser(dump_root)
            check_dump_root(dump_root, "dump_root")
        self._dump_root = dump_root or os.path.join(tempfile.mkdtemp(prefix="tfdbg_"), "dump")
        self._owns_parent = not dump_root
        self._argparsers = _parsers()
        self._tensor_filters: dict[str, TensorFilter] = {}
        self.add_tensor_filter("has_inf_or_nan", has_inf_or_nan)
        self._ui_type = ui_type
        self._config = CLIConfig(config_file_path=config_file_path) if config_file_path else None
        self._is_over = False
        # What the last `run` command asked for.
        self._run_start_response: Any = None
        self._run_through_times = 1
        self._skip_debug = False
        self._active_tensor_filter: str | None = None
        self._active_filter_exclude_node_names: str | None = None
        self._active_tensor_filter_run_start_response: Any = None
        # What the present run is.
        self._is_run_start = True
        self._feed_dict: Any = None
        self._run_description = ""
        self._run_info = RichTextLines([])
        # What the command line shows first.
        self._run_cli: Any = None
        self._init_command = self._title = ""
        self._title_color: str | None = None

    def _is_disk_usage_reset_each_run(self) -> bool:
        return True  # a dump is removed when its run has been looked at

    def add_tensor_filter(self, filter_name: str, tensor_filter: TensorFilter) -> None:
        """Names a predicate of tensors for `run -f NAME` and `lt -f NAME`."""
        self._tensor_filters[filter_name] = tensor_filter

    def on_session_init(self, request: OnSessionInitRequest) -> OnSessionInitResponse:
        return OnSessionInitResponse(OnSessionInitAction.PROCEED)

    # Before a run -------------------------------------------------------------------------------

    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        self._is_run_start = True
        self._describe(request)
        if self._is_over:
            return _PLAIN_RUN
        if self._active_tensor_filter:
            return self._active_tensor_filter_run_start_response
        self._exit_if_requested_by_user()
        if self._run_call_count > 1 and not self._skip_debug:
            if self._run_through_times > 0:
                return _PLAIN_RUN
            if self._run_through_times == 0:
                return self._run_start_response or OnRunStartResponse(
                    OnRunStartAction.DEBUG_RUN, self._get_run_debug_urls()
                )
        if self._run_start_response is None:
            self._prep_cli_for_run_start()
            self._run_start_response = self._launch_cli()
            if self._run_through_times > 1:
                self._run_through_times -= 1
        self._exit_if_requested_by_user()
        return self._run_start_response

    def _describe(self, request: OnRunStartRequest) -> None:
        run = request.run_call_count, request.fetches, request.feed_dict
        is_callable = request.is_callable_runner
        self._run_call_count = request.run_call_count
        self._feed_dict = request.feed_dict
        self._run_through_times -= 1
        self._run_description = screens.get_run_short_description(
            *run, is_callable_runner=is_callable
        )
        self._run_info = screens.get_run_start_intro(
            *run, self._tensor_filters, is_callable_runner=is_callable
        )

    def _exit_if_requested_by_user(self) -> None:
        if self._run_start_response == EXPLICIT_USER_EXIT:
            sys.stderr.write("Note: user exited from debugger CLI: Calling sys.exit(1).\n")
            sys.exit(1)

    def _get_run_debug_urls(self) -> list[str]:
        return [f"file://{self._dump_root}"]

    def _prep_cli_for_run_start(self) -> None:
        """Makes the command line for the time before a run."""
        self._run_cli = command_lines.get_ui(self._ui_type, config=self._config)
        intro = self._greeting()
        intro.append("Upcoming run:")
        intro.extend(self._run_info)
        self._run_cli.set_help_intro(intro)
        self._title = f"run-start: {self._run_description}"
        self._init_command = "run_info"
        self._title_color = "blue_on_white"

    def _greeting(self) -> RichTextLines:
        """The debugger's name, before the first run."""
        out = RichTextLines([])
        if self._run_call_count == 1:
            out.extend(screens.get_tfdbg_logo())
            out.extend(get_tensorflow_version_lines())
        return out

    # After a run --------------------------------------------------------------------------------

    def on_run_end(self, request: OnRunEndRequest) -> OnRunEndResponse:
        self._is_run_start = False
        if request.performed_action == OnRunStartAction.DEBUG_RUN:
            self._look_at_dump(request)
        elif request.performed_action == OnRunStartAction.PROFILE_RUN:
            self._prep_profile_cli_for_run_end(self._sess.graph, request.run_metadata)
            self._run_start_response = self._launch_cli()
        else:
            self._run_start_response = None
        return OnRunEndResponse()

    def _look_at_dump(self, request: OnRunEndRequest) -> None:
        if request.tf_error is not None and not os.path.isdir(self._dump_root):
            raise request.tf_error  # it failed before any node ran
        graphs = None
        if request.run_metadata is not None and request.run_metadata.partition_graphs:
            graphs = request.run_metadata.partition_graphs
        elif request.client_graph_def is not None:
            graphs = [request.client_graph_def]
        dump = DebugDumpDir(self._dump_root, partition_graphs=graphs)
        dump.set_python_graph(self._sess.graph)
        passed, excluded = self._active_tensor_filter, self._active_filter_exclude_node_names
        if passed and not dump.find(
            self._tensor_filters[passed], first_n=1, exclude_node_names=excluded
        ):
            self._remove_dump_root()
            return
        self._active_tensor_filter = self._active_filter_exclude_node_names = None
        self._prep_debug_cli_for_run_end(dump, request.tf_error, passed, excluded)
        self._run_start_response = self._launch_cli()
        self._remove_dump_root()

    def _remove_dump_root(self) -> None:
        if os.path.isdir(self._dump_root):
            shutil.rmtree(self._dump_root)

    def _prep_debug_cli_for_run_end(
        self,
        debug_dump: DebugDumpDir,
        tf_error: Any,
        passed_filter: str | None,
        passed_filter_exclude_node_names: str | None,
    ) -> None:
        """Makes the command line for the time after a watched run."""
        self._run_cli = dump_analyzer.create_analyzer_ui(
            debug_dump,
            self._tensor_filters,
            ui_type=self._ui_type,
            on_ui_exit=self._remove_dump_root,
            config=self._config,
        )
        self._run_cli.register_tab_comp_context(
            ["node_info", "ni", "list_inputs", "li", "list_outputs", "lo"], debug_dump.nodes()
        )
        self._title = f"run-end: {self._run_description}"
        self._init_command = "lt"
        self._title_color = "black_on_white"
        if tf_error is not None:
            self._run_cli.set_help_intro(screens.get_error_intro(tf_error))
            self._init_command = "help"
            self._title_color = "red_on_white"
        elif passed_filter is not None:
            self._init_command = f"lt -f {passed_filter}"
            if passed_filter_exclude_node_names:
                excluded = passed_filter_exclude_node_names
                self._init_command += f" --filter_exclude_node_names {excluded}"
            self._title_color = "red_on_white"

    def _prep_profile_cli_for_run_end(self, py_graph: Any, run_metadata: Any) -> None:
        """Makes the command line for the time after a profiled run."""
        self._run_cli = profile_screens.create_profiler_ui(
            py_graph, run_metadata, ui_type=self._ui_type, config=self._config
        )
        self._title = f"run-end (profiler mode): {self._run_description}"
        self._init_command = "lp"

    # Commands -----------------------------------------------------------------------------------

    def _launch_cli(self) -> Any:
        """Takes commands until one says how to go on."""
        self._register_this_run_info(self._run_cli)
        try:
            return self._run_cli.run_ui(
                init_command=self._init_command, title=self._title, title_color=self._title_color
            )
        except EOFError:
            self._is_over = True
            self._remove_dump_root()
            return _PLAIN_RUN

    def _register_this_run_info(self, curses_cli: Any) -> None:
        """Adds the commands that are there before and after a run."""
        for command, handler, alias in (
            ("run", self._run_handler, "r"),
            ("run_info", self._run_info_handler, "ri"),
            ("print_feed", self._print_feed_handler, "pf"),
        ):
            curses_cli.register_command_handler(
                command, handler, self._argparsers[command].format_help(), prefix_aliases=[alias]
            )
        curses_cli.register_tab_comp_context(["run", "r"], list(self._tensor_filters))
        if self._feed_dict and hasattr(self._feed_dict, "keys"):
            names = [get_graph_element_name(key) for key in self._feed_dict]
            curses_cli.register_tab_comp_context(["print_feed", "pf"], names)

    def _run_handler(self, args: list[str], screen_info: Any = None) -> RichTextLines:
        """Ends the command line with the way in which to go on."""
        given = self._argparsers["run"].parse_args(args)
        if given.filter_exclude_node_names and not given.till_filter_pass:
            raise ValueError(
                "The --filter_exclude_node_names (or -feon) flag is valid only if the "
                "--till_filter_pass (or -f) flag is used."
            )
        if given.profile:
            raise CommandLineExit(OnRunStartResponse(OnRunStartAction.PROFILE_RUN, []))
        self._skip_debug = given.no_debug
        self._run_through_times = given.times
        is_plain = given.times > 1 or given.no_debug
        response = OnRunStartResponse(
            OnRunStartAction.NON_DEBUG_RUN if is_plain else OnRunStartAction.DEBUG_RUN,
            [] if is_plain else self._get_run_debug_urls(),
            node_name_regex_whitelist=given.node_name_filter or None,
            op_type_regex_whitelist=given.op_type_filter or None,
            tensor_dtype_regex_whitelist=given.tensor_dtype_filter or None,
        )
        if given.till_filter_pass:
            if given.till_filter_pass not in self._tensor_filters:
                text = f'ERROR: tensor filter "{given.till_filter_pass}" does not exist.'
                return RichTextLines([text])
            self._active_tensor_filter = given.till_filter_pass
            self._active_filter_exclude_node_names = given.filter_exclude_node_names
            self._active_tensor_filter_run_start_response = response
        raise CommandLineExit(response)

    def _run_info_handler(self, args: list[str], screen_info: Any = None) -> RichTextLines:
        """What is run."""
        out = self._greeting()
        out.extend(self._run_info)
        menu = out.annotations.get(MAIN_MENU_KEY)
        if menu is not None and not self._is_run_start and "list_tensors" not in menu.captions():
            menu.insert(0, MenuItem("list_tensors", "list_tensors"))
        return out

    def _print_feed_handler(self, args: list[str], screen_info: Any = None) -> RichTextLines:
        """A fed value."""
        if not self._feed_dict:
            return screens.error("The feed_dict of the current run is None or empty.")
        given = self._argparsers["print_feed"].parse_args(args)
        name, part = command_words.parse_tensor_name_with_slicing(given.tensor_name)
        values = {get_graph_element_name(key): value for key, value in self._feed_dict.items()}
        if name not in values:
            return screens.error(
                f"The feed_dict of the current run does not contain the key {name}"
            )
        return screens.format_tensor(
            values[name],
            f"{name} (feed)",
            screens.numpy_printoptions_from_screen_info(screen_info),
            print_all=given.print_all,
            tensor_slicing=part,
            highlight_options=screens.parse_ranges_highlight(given.ranges),
            include_numeric_summary=given.numeric_summary,
        )

    def close(self) -> None:
        super().close()
        if self._owns_parent:
            shutil.rmtree(os.path.dirname(self._dump_root), ignore_errors=True)


class LocalCLIDebugHook(SessionRunHook):
    """`LocalCLIDebugWrapperSession` for monitored sessions and estimators."""

    def __init__(
        self,
        ui_type: str = "curses",
        dump_root: str | None = None,
        thread_name_filter: str | None = None,
        config_file_path: Any = None,
    ):
        self._ui_type = ui_type
        self._dump_root = dump_root
        self._thread_name_filter = thread_name_filter
        self._config_file_path = config_file_path
        self._filters: dict[str, TensorFilter] = {}
        self._session_wrapper: LocalCLIDebugWrapperSession | None = None
        self._performed_action = OnRunStartAction.NON_DEBUG_RUN

    def add_tensor_filter(self, filter_name: str, tensor_filter: TensorFilter) -> None:
        """Names a predicate of tensors, before the first run or later."""
        self._filters[filter_name] = tensor_filter
        if self._session_wrapper is not None:
            self._session_wrapper.add_tensor_filter(filter_name, tensor_filter)

    def before_run(self, run_context: Any) -> SessionRunArgs:
        if self._session_wrapper is None:
            self._session_wrapper = LocalCLIDebugWrapperSession(
                run_context.session,
                self._dump_root,
                ui_type=self._ui_type,
                thread_name_filter=self._thread_name_filter,
                config_file_path=self._config_file_path,
            )
            for name, tensor_filter in self._filters.items():
                self._session_wrapper.add_tensor_filter(name, tensor_filter)
        wrapper, asked = self._session_wrapper, run_context.original_args
        wrapper.increment_run_call_count()
        response = wrapper.on_run_start(
            OnRunStartRequest(asked.fetches, asked.feed_dict, None, None, wrapper.run_call_count)
        )
        self._performed_action = response.action
        options = proto.RunOptions()
        if response.action == OnRunStartAction.DEBUG_RUN:
            wrapper._decorate_run_options_for_debug(options, **response.watches())
        elif response.action == OnRunStartAction.PROFILE_RUN:
            wrapper._decorate_run_options_for_profile(options)
        return SessionRunArgs(None, feed_dict=None, options=options)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        assert self._session_wrapper is not None
        request = OnRunEndRequest(self._performed_action, run_values.run_metadata)
        self._session_wrapper.on_run_end(request)
