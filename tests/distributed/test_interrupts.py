"""Ctrl-C while the main thread talks to other tasks."""

import signal
import threading

import pytest

from penstock.distributed.interrupts import Held, Open


@pytest.fixture(autouse=True)
def usual_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press_ctrl_c():
    signal.raise_signal(signal.SIGINT)


def interrupted(program):
    """Runs a program that adds to a list what it comes to; the list, and what ended it."""
    done = []
    try:
        program(done)
    except BaseException as error:
        return done, error
    return done, None


def test_a_section_is_done_to_its_end_and_then_interrupted():
    def program(done):
        with Held():
            with Held():
                press_ctrl_c()
                done.append("inner")
            done.append("outer")
        done.append("never")

    for _ in range(2):  # nothing is left of the first
        done, error = interrupted(program)
        assert done == ["inner", "outer"]
        assert type(error) is KeyboardInterrupt


def test_the_error_that_an_interrupted_section_ends_with_is_its_context():
    def program(done):
        with Held():
            press_ctrl_c()
            raise ValueError("given up")

    _, error = interrupted(program)
    assert type(error) is KeyboardInterrupt
    assert str(error.__context__) == "given up"


def test_who_presses_twice_is_obeyed_at_once():
    def program(done):
        with Held():
            press_ctrl_c()
            done.append("once")
            press_ctrl_c()
            done.append("twice")

    for _ in range(2):
        done, error = interrupted(program)
        assert done == ["once"]
        assert type(error) is KeyboardInterrupt
        assert error.__context__ is None


def test_a_wait_is_interrupted_and_what_follows_it_is_not():
    def program(done):
        with Held():
            try:
                with Open():
                    press_ctrl_c()
                    done.append("never")
            finally:
                press_ctrl_c()
                done.append("told others")

    done, error = interrupted(program)
    assert done == ["told others"]
    assert type(error) is KeyboardInterrupt


def test_no_wait_begins_after_ctrl_c():
    def program(done):
        with Held():
            with Open():
                done.append("first wait")
            press_ctrl_c()
            done.append("section")
            with Open():
                done.append("second wait")

    done, error = interrupted(program)
    assert done == ["first wait", "section"]
    assert type(error) is KeyboardInterrupt


def test_what_a_section_does_is_stopped_from_another_thread():
    gate = threading.Lock()
    gate.acquire()

    def program(done):
        def stop():
            done.append(threading.get_ident())
            gate.release()

        with Held(stop), Held():
            press_ctrl_c()
            assert gate.acquire(timeout=60)

    done, error = interrupted(program)
    assert len(done) == 1
    assert done != [threading.get_ident()]
    assert type(error) is KeyboardInterrupt


def test_outside_sections_ctrl_c_is_what_it_was():
    with Held():
        pass
    with pytest.raises(KeyboardInterrupt):
        press_ctrl_c()


def test_a_handler_of_the_program_stays():
    came = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    with Held():
        press_ctrl_c()
        assert came == [signal.SIGINT]


def test_other_threads_hold_nothing_back():
    inside, leave = threading.Event(), threading.Event()

    def other():
        with Held(), Open():
            inside.set()
            leave.wait()

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait()
    with Held():
        pass  # from now on the handler is there
    try:
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()
    finally:
        leave.set()
        thread.join()
