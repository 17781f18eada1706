"""Flags and `tf.app.run`, each in a process of its own: flags are the process's."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

HEADER = """
import sys
import penstock as tf
flags = tf.app.flags
FLAGS = flags.FLAGS
"""


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    source = HEADER + textwrap.dedent(program)
    return subprocess.run(
        [sys.executable, "-c", source, *arguments], capture_output=True, text=True, check=False
    )


def output(program: str, *arguments: str) -> str:
    result = run(program, *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_flags_are_parsed_when_first_read() -> None:
    program = """
    flags.DEFINE_string("name", "x", "A name.")
    flags.DEFINE_integer("count", 1, "A number.")
    flags.DEFINE_float("rate", 0.5, "A number.")
    flags.DEFINE_boolean("fast", False, "A switch.")
    flags.DEFINE_bool("slow", True, "A switch.")
    flags.DEFINE_list("parts", ["a"], "Some.")
    flags.DEFINE_enum("kind", "one", ["one", "two"], "A choice.")
    flags.DEFINE_multi_integer("many", [1], "Several.")
    print(FLAGS.name, FLAGS.count, FLAGS.rate, FLAGS.fast, FLAGS.slow, FLAGS.parts, FLAGS.kind,
          FLAGS.many)
    """
    assert output(program) == "x 1 0.5 False True ['a'] one [1]"
    arguments = "--name=y --count 7 --rate=1e-3 --fast --noslow --parts=b,c --kind=two".split()
    found = output(program, *arguments, "--many=4", "--many=5")
    assert found == "y 7 0.001 True False ['b', 'c'] two [4, 5]"


def test_tf_flags_and_tf_app_flags_are_one_module() -> None:
    assert output("import penstock.flags\nprint(tf.flags is flags is penstock.flags)") == "True"


def test_old_argument_names_and_a_warning() -> None:
    result = run(
        "flags.DEFINE_string(flag_name='n', default_value='v', docstring='h')\nprint(FLAGS.n)"
    )
    assert result.stdout.strip() == "v"
    assert "please use (name, default, help) instead" in result.stderr


def test_run_calls_main_of_the_program_with_what_is_left() -> None:
    program = """
    flags.DEFINE_integer("n", 1, "")
    def main(argv):
        print(FLAGS.n, argv[1:])
        return 3
    tf.app.run()
    """
    result = run(program, "--n=2", "rest", "--unknown=1")
    assert result.stdout.strip() == "2 ['rest', '--unknown=1']"
    assert result.returncode == 3


def test_run_takes_main_and_arguments() -> None:
    assert output("tf.app.run(main=lambda argv: print(argv), argv=['p', 'a'])") == "['p', 'a']"


def test_unknown_flags_are_an_error_without_run() -> None:
    result = run("flags.DEFINE_integer('n', 1, '')\nprint(FLAGS.n)", "--unknown")
    assert result.returncode != 0 and "Unknown command line flag 'unknown'" in result.stderr


def test_required_flags() -> None:
    program = """
    flags.DEFINE_string("needed", None, "")
    flags.mark_flag_as_required("needed")
    tf.app.run(main=lambda _: print(FLAGS.needed))
    """
    assert output(program, "--needed=here") == "here"
    assert "--needed must have a value" in run(program).stderr


def test_values_can_be_set_and_listed() -> None:
    program = """
    flags.DEFINE_integer("n", 1, "")
    FLAGS.n = 5
    print(FLAGS.n, FLAGS.flag_values_dict()["n"], FLAGS["n"].value, "n" in FLAGS, "n" in dir(FLAGS),
          FLAGS.__flags["n"].value)
    """
    assert output(program) == "5 5 5 True True 5"


def test_parse_flags_of_old() -> None:
    program = "flags.DEFINE_integer('n', 1, '')\nprint(FLAGS._parse_flags(), FLAGS.n)"
    assert output(program, "--n=4", "x") == "['x'] 4"


@pytest.mark.parametrize("name", ["nothing", "batch_size"])
def test_a_flag_that_is_not_defined(name: str) -> None:
    assert "AttributeError" in run(f"print(FLAGS.{name})").stderr


def test_a_flag_belongs_to_the_module_that_defines_it() -> None:
    program = """
    flags.DEFINE_integer("n", 1, "")
    print(FLAGS.find_module_defining_flag("n") in (sys.argv[0], "__main__"))
    """
    assert output(program) == "True"


def test_flags_of_the_names_that_absl_has_for_logging() -> None:
    program = """
    flags.DEFINE_string("log_dir", "logs", "")
    flags.DEFINE_integer("v", 7, "")
    def main(_):
        import logging
        logging.warning("said")
        print(FLAGS.log_dir, FLAGS.v, FLAGS["log_dir"].allow_override)
        flags.DEFINE_string("log_dir", "again", "")
    tf.app.run()
    """
    result = run(program, "--log_dir=here", "--v=3")
    assert result.stdout.strip() == "here 3 False" and "said" in result.stderr
    assert "The flag 'log_dir' is defined twice" in result.stderr
