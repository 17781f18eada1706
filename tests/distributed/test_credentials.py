"""Where servers listen, and what their clients have to show."""

from __future__ import annotations

import pathlib
import stat
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest

import penstock as tf
from penstock.cli import main
from penstock.distributed.credentials import (
    Credentials,
    interface_for,
    is_loopback,
    read_credentials,
)


@pytest.fixture(autouse=True)
def graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("PENSTOCK_CREDENTIALS", "PENSTOCK_INSECURE"):
        monkeypatch.delenv(name, raising=False)
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture(scope="module")
def folders(tmp_path_factory: Any) -> dict[str, pathlib.Path]:
    """Credentials of two clusters, and a token alone."""
    parent = tmp_path_factory.mktemp("credentials")
    for name in ("own", "foreign"):
        assert main(["certs", str(parent / name), "ps0", "10.0.0.7"]) == 0
    assert main(["certs", str(parent / "token"), "--token-only"]) == 0
    return {name: parent / name for name in ("own", "foreign", "token")}


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.8.0.1", True),
        ("[::1]", True),
        ("0.0.0.0", False),
        ("[::]", False),
        ("10.0.0.7", False),
        ("ps0", False),
        ("localhost.example.org", False),
    ],
)
def test_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_no_server_without_credentials_outside(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for host in ("ps0:0", "0.0.0.0:0"):
        with pytest.raises(tf.errors.FailedPreconditionError, match="penstock certs FOLDER"):
            tf.train.Server({"ps": [host]})
    assert interface_for("ps0", Credentials(token="t")) == "[::]"
    assert interface_for("localhost", Credentials()) == "127.0.0.1"
    assert interface_for("127.0.0.3", Credentials()) == "127.0.0.3"
    assert interface_for("::1", Credentials()) == interface_for("[::1]", Credentials()) == "[::1]"
    monkeypatch.setenv("PENSTOCK_INSECURE", "1")
    assert interface_for("ps0", Credentials()) == "[::]"
    assert "can run programs on this machine" in caplog.text


def test_the_loopback_interface_has_many_addresses() -> None:
    server = tf.train.Server({"local": ["127.0.0.2:0"]})
    try:
        assert server.target.startswith("grpc://127.0.0.2:")
        config = tf.ConfigProto(operation_timeout_in_ms=20_000)
        config.rpc_options.use_rpc_for_inprocess_master = True
        three = tf.constant(1) + 2
        with tf.Session(server.target, config=config) as sess:
            assert sess.run(three) == 3
    finally:
        server.stop()


def test_what_certs_makes(folders: dict[str, pathlib.Path], capsys: Any) -> None:
    own = folders["own"]
    assert sorted(path.name for path in own.iterdir()) == [
        "ca.pem",
        "task.key",
        "task.pem",
        "token",
    ]
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in own.iterdir())
    assert read_credentials(str(own)).has_certificates
    assert not read_credentials(str(folders["token"])).has_certificates
    assert main(["certs", str(own)]) == 1
    assert "is not empty" in capsys.readouterr().err


def test_certs_without_openssl(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["certs", str(tmp_path / "new")]) == 1
    assert "--token-only" in capsys.readouterr().err


def test_folders_that_are_no_credentials(tmp_path: pathlib.Path) -> None:
    with pytest.raises(tf.errors.NotFoundError, match="penstock certs"):
        read_credentials(str(tmp_path))
    (tmp_path / "task.pem").write_text("x")
    with pytest.raises(tf.errors.FailedPreconditionError, match="task.key"):
        read_credentials(str(tmp_path))


def run_with(folder: pathlib.Path | None, target: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    if folder is None:
        monkeypatch.delenv("PENSTOCK_CREDENTIALS", raising=False)
    else:
        monkeypatch.setenv("PENSTOCK_CREDENTIALS", str(folder))
    config = tf.ConfigProto(operation_timeout_in_ms=500)
    config.rpc_options.use_rpc_for_inprocess_master = True
    with tf.Session(target, config=config) as session:
        return session.run(tf.constant(7))


def test_a_token(
    folders: dict[str, pathlib.Path],
    start_server: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: pathlib.Path,
) -> None:
    monkeypatch.setenv("PENSTOCK_CREDENTIALS", str(folders["token"]))
    target = start_server().target
    assert run_with(folders["token"], target, monkeypatch) == 7
    (tmp_path / "token").write_text("guessed")
    for folder in (None, tmp_path):
        with pytest.raises(tf.errors.UnauthenticatedError, match="token"):
            run_with(folder, target, monkeypatch)


def test_the_token_comes_before_the_message(
    folders: dict[str, pathlib.Path],
    start_server: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PENSTOCK_CREDENTIALS", str(folders["token"]))
    target = start_server().target
    with grpc.insecure_channel(target.removeprefix("grpc://")) as channel:
        for method in ("CreateSession", "NoMethod"):
            with pytest.raises(grpc.RpcError) as info:
                channel.unary_unary(f"/tensorflow.MasterService/{method}")(b"no message at all")
            assert info.value.code() is grpc.StatusCode.UNAUTHENTICATED


def test_certificates(
    folders: dict[str, pathlib.Path],
    start_server: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PENSTOCK_CREDENTIALS", str(folders["own"]))
    target = start_server().target
    assert run_with(folders["own"], target, monkeypatch) == 7
    for folder in (None, folders["foreign"]):
        with pytest.raises(tf.errors.DeadlineExceededError):  # no connection comes about
            run_with(folder, target, monkeypatch)
