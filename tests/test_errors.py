"""Error classes, codes and messages, with values looked up in TensorFlow."""

from __future__ import annotations

import pickle

import pytest

from penstock import errors, proto

CODES = {
    "CancelledError": 1,
    "UnknownError": 2,
    "InvalidArgumentError": 3,
    "DeadlineExceededError": 4,
    "NotFoundError": 5,
    "AlreadyExistsError": 6,
    "PermissionDeniedError": 7,
    "ResourceExhaustedError": 8,
    "FailedPreconditionError": 9,
    "AbortedError": 10,
    "OutOfRangeError": 11,
    "UnimplementedError": 12,
    "InternalError": 13,
    "UnavailableError": 14,
    "DataLossError": 15,
    "UnauthenticatedError": 16,
}


@pytest.mark.parametrize(("name", "code"), CODES.items())
def test_each_class_has_its_code(name: str, code: int) -> None:
    cls = getattr(errors, name)
    error = cls(None, None, "what happened")
    assert isinstance(error, errors.OpError)
    assert (error.message, error.op, error.node_def) == ("what happened", None, None)
    assert error.error_code == code
    assert errors.exception_type_from_error_code(code) is cls
    assert errors.error_code_from_exception_type(cls) == code


def test_constants_are_those_of_the_wire() -> None:
    constants = {
        name: getattr(errors, name) for name in dir(errors) if name.isupper() and name[0] != "_"
    }
    assert len(constants) == 17
    assert constants == {name: proto.Code.Value(name) for name in constants}


@pytest.mark.parametrize("code", [-1, errors.OK, 17])
def test_other_codes_have_no_class(code: int) -> None:
    with pytest.raises(KeyError):
        errors.exception_type_from_error_code(code)


def test_a_foreign_class_is_unknown() -> None:
    with pytest.warns(UserWarning, match="ValueError"):
        found = errors.error_code_from_exception_type(ValueError)
    assert isinstance(found, errors.UnknownError)


def test_an_error_is_made_by_its_code() -> None:
    made = errors._make_specific_exception(None, None, "gone", errors.NOT_FOUND)
    assert type(made) is errors.NotFoundError
    assert made.message == "gone"
    with pytest.warns(UserWarning, match="Unknown error code: 37"):
        assert errors._make_specific_exception(None, None, "odd", 37).error_code == 37


def test_unknown_error_keeps_a_foreign_code() -> None:
    assert errors.UnknownError(None, None, "m", 77).error_code == 77


def test_text_is_the_message() -> None:
    error = errors.NotFoundError(None, None, "no such file")
    assert str(error) == "no such file"
    assert repr(error) == "NotFoundError('no such file')"


def test_text_says_where_the_op_was_made() -> None:
    class Op:
        name = "dense/MatMul"
        traceback = (("train.py", 41, "main", "y = tf.matmul(x, w)"),)

    text = str(errors.InvalidArgumentError(None, Op(), "shapes differ"))
    assert text.startswith("shapes differ\n")
    assert "'dense/MatMul'" in text
    assert 'File "train.py", line 41' in text


def test_message_cannot_be_assigned() -> None:
    error = errors.InternalError(None, None, "m")
    with pytest.raises(AttributeError):
        error.message = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    "error",
    [
        errors.OpError(proto.NodeDef(name="n", op="MatMul"), None, "m", 77),
        errors.OutOfRangeError(proto.NodeDef(name="n", op="QueueDequeueV2"), object(), "end"),
        errors.UnknownError(None, None, "m", 99),
    ],
    ids=lambda error: type(error).__name__,
)
def test_pickle_keeps_all_but_the_op(error: errors.OpError) -> None:
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert type(copy) is type(error)
    assert copy.op is None
    assert (copy.node_def, copy.message, copy.error_code) == (
        error.node_def,
        error.message,
        error.error_code,
    )


def test_build_time_errors_are_python_errors() -> None:
    assert issubclass(errors.InaccessibleTensorError, ValueError)
    assert issubclass(errors.OperatorNotAllowedInGraphError, TypeError)
