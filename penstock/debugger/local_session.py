"""`LocalCLIDebugWrapperSession`: a debugger that is asked for commands before and after each run.

Commands are lines of the standard input, so that they can come from a file or a pipe as well as
from a terminal. Where the input ends, the program goes on without the debugger.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from penstock import proto
from penstock.debugger.analyzer import Analyzer, UnknownCommand
from penstock.debugger.dump_folder import DebugDumpDir
from penstock.debugger.dumped_tensors import has_inf_or_nan
from penstock.debugger.dumping import check_dump_root
from penstock.debugger.wrapper_session import (
    BaseDebugWrapperSession,
    OnRunEndRequest,
    OnRunEndResponse,
    OnRunStartAction,
    OnRunStartRequest,
    OnRunStartResponse,
)
from penstock.train.session_run_hook import SessionRunArgs, SessionRunHook

TensorFilter = Callable[[Any, Any], bool]

_HELP = """\
run [-t N] [-n] [-f FILTER] [-p] [--node_name_filter RE] [--op_type_filter RE]
                     make this run (N runs; -n plainly; until a tensor passes a filter; -p profiled)
exit                 end the program
help                 this text"""


class _Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise ValueError(message)


def _run_arguments() -> argparse.ArgumentParser:
    parser = _Arguments(prog="run", add_help=False)
    parser.add_argument("-t", "--times", type=int, default=1)
    parser.add_argument("-n", "--no_debug", action="store_true")
    parser.add_argument("-f", "--till_filter_pass", default="")
    parser.add_argument("-fenn", "--filter_exclude_node_names", default="")
    parser.add_argument("--node_name_filter", default="")
    parser.add_argument("--op_type_filter", default="")
    parser.add_argument("--tensor_dtype_filter", default="")
    parser.add_argument("-p", "--profile", action="store_true")
    return parser


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
      config_file_path: not used.
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
        if ui_type not in ("curses", "readline", "cli"):
            raise ValueError(f"Invalid ui_type: {ui_type!r} (known: 'curses', 'readline')")
        super().__init__(sess, thread_name_filter=thread_name_filter)
        if dump_root:
            dump_root = os.path.expanduser(dump_root)
            check_dump_root(dump_root, "dump_root")
        self._dump_root = dump_root or os.path.join(tempfile.mkdtemp(prefix="tfdbg_"), "dump")
        self._owns_parent = not dump_root
        self._tensor_filters: dict[str, TensorFilter] = {}
        self.add_tensor_filter("has_inf_or_nan", has_inf_or_nan)
        self._input, self._output = sys.stdin, sys.stdout
        self._plan = argparse.Namespace(times=0, no_debug=False, till_filter_pass="")
        self._is_over = False

    def add_tensor_filter(self, filter_name: str, tensor_filter: TensorFilter) -> None:
        """Names a predicate of tensors for `run -f NAME` and `lt -f NAME`."""
        self._tensor_filters[filter_name] = tensor_filter

    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        if self._is_over:
            return OnRunStartResponse(OnRunStartAction.NON_DEBUG_RUN, [])
        if not (self._plan.till_filter_pass or self._plan.times > 0):
            self._say(f"run-start: run #{request.run_call_count}: {_described(request)}")
            self._converse(None)
        return self._response()

    def _response(self) -> OnRunStartResponse:
        plan = self._plan
        plan.times -= 1
        if self._is_over or plan.no_debug or (plan.times > 0 and not plan.till_filter_pass):
            return OnRunStartResponse(OnRunStartAction.NON_DEBUG_RUN, [])
        if plan.profile:
            return OnRunStartResponse(OnRunStartAction.PROFILE_RUN, [])
        return OnRunStartResponse(
            OnRunStartAction.DEBUG_RUN,
            [f"file://{self._dump_root}"],
            node_name_regex_whitelist=plan.node_name_filter or None,
            op_type_regex_whitelist=plan.op_type_filter or None,
            tensor_dtype_regex_whitelist=plan.tensor_dtype_filter or None,
        )

    def on_run_end(self, request: OnRunEndRequest) -> OnRunEndResponse:
        if request.performed_action == OnRunStartAction.PROFILE_RUN:
            from penstock.tracing.step_report import step_stats_table

            self._say(step_stats_table(request.run_metadata.step_stats))
        elif request.performed_action == OnRunStartAction.DEBUG_RUN:
            self._look(request)
        return OnRunEndResponse()

    def _look(self, request: OnRunEndRequest) -> None:
        if request.tf_error is not None:
            self._say(f"run-end: the run failed: {request.tf_error}")
        if not os.path.isdir(self._dump_root):
            return
        graphs = request.run_metadata.partition_graphs if request.run_metadata else None
        dump = DebugDumpDir(self._dump_root, partition_graphs=graphs, validate=False)
        dump.set_python_graph(self._sess.graph)
        analyzer = Analyzer(dump, self._tensor_filters, self._say)
        name = self._plan.till_filter_pass
        found = self._passing(dump, name) if name else []
        if found or not name or request.tf_error is not None:
            self._plan.till_filter_pass = ""
            self._say(f"run-end: {dump.size} dumped tensors")
            if found:
                self._say(f"{len(found)} of them pass the filter {name!r}, the first:")
                analyzer.print_tensor(found[0].tensor_name)
            self._converse(analyzer)
        shutil.rmtree(self._dump_root)

    def _passing(self, dump: DebugDumpDir, name: str) -> list[Any]:
        excluded = self._plan.filter_exclude_node_names or None
        return dump.find(self._tensor_filters[name], exclude_node_names=excluded)

    # Talking ----------------------------------------------------------------------------------

    def _converse(self, analyzer: Analyzer | None) -> None:
        """Takes commands until one says how to go on."""
        while True:
            if self._input.isatty():
                self._output.write("tfdbg> ")
                self._output.flush()
            line = self._input.readline()
            if not line:
                self._is_over = True
                return
            try:
                if self._obey(shlex.split(line), analyzer):
                    return
            except (ValueError, LookupError) as error:
                self._say(f"ERROR: {error}")

    def _obey(self, words: list[str], analyzer: Analyzer | None) -> bool:
        """Does a command; whether the program goes on."""
        if not words or words[0].startswith("#"):
            return False
        if words[0] in ("run", "r"):
            plan = _run_arguments().parse_args(words[1:])
            if plan.till_filter_pass and plan.till_filter_pass not in self._tensor_filters:
                known = ", ".join(sorted(self._tensor_filters))
                raise ValueError(f"no tensor filter {plan.till_filter_pass!r} (known: {known})")
            self._plan = plan
            return True
        if words[0] in ("exit", "quit", "q"):
            sys.stderr.write("Note: user exited from debugger CLI: Calling sys.exit(1).\n")
            sys.exit(1)
        if words[0] in ("help", "h"):
            self._say(_HELP)
            if analyzer is not None:
                self._say(analyzer.help())
            return False
        if analyzer is None:
            raise UnknownCommand(words[0], "run, exit, help; others after a run")
        analyzer.obey(words)
        return False

    def _say(self, text: str) -> None:
        print(text, file=self._output, flush=True)

    def close(self) -> None:
        super().close()
        if self._owns_parent:
            shutil.rmtree(os.path.dirname(self._dump_root), ignore_errors=True)


def _described(request: OnRunStartRequest) -> str:
    fed = len(request.feed_dict or ())
    return f"fetches {request.fetches!r}, {fed} feed{'' if fed == 1 else 's'}"


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
