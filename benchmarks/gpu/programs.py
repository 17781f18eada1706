"""Training programs whose weights and data stay on a device, once per framework."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.image_network import ImageNetwork
from benchmarks.jax_network import jax_loss
from benchmarks.layouts import in_layout
from benchmarks.session_network import SessionNetwork
from benchmarks.torch_network import torch_network


@dataclass(frozen=True)
class DeviceProgram:
    """A step in one framework, its state at the initial values.

    1. `step` starts a step and may return while the device is still at work.
    2. `wait` returns when the device has done all that was started.
    3. `observe` takes a step and returns the loss of the state before it, on which all
       frameworks must agree.
    4. Of a program that is `host_bound`, what counts is the time until `step` returns.
    """

    step: Callable[[], object]
    wait: Callable[[], object]
    observe: Callable[[], float]
    host_bound: bool = False


def _torch_settings(torch: Any) -> None:
    """Lets convolutions and products of float32 use TF32, and picks cuDNN's fastest algorithms."""
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True


def _torch_wait(torch: Any, device: str) -> Callable[[], object]:
    return torch.cuda.synchronize if device == "cuda" else lambda: None


# Penstock -------------------------------------------------------------------------------------


def penstock_session(device: str) -> tuple[Any, Any, Callable[[], object]]:
    """The `tf` module, a session on the device, and what waits for it."""
    import torch

    import penstock as tf

    _torch_settings(torch)
    config = tf.ConfigProto(device_count={"GPU": 0}) if device == "cpu" else tf.ConfigProto()
    return tf, tf.Session(config=config), _torch_wait(torch, device)


def penstock_program(network: ImageNetwork, variant: str, device: str) -> DeviceProgram:
    tf, session, wait = penstock_session(device)
    images, labels = network.data()
    values = {**network.initial_values(), "images": in_layout(variant, images), "labels": labels}
    x = tf.Variable(tf.zeros(values["images"].shape), trainable=False, name="images")
    y = tf.Variable(tf.zeros(labels.shape, tf.int64), trainable=False, name="labels")
    loss, train_op = SessionNetwork(tf, network, variant).training(x, y)
    session.run(tf.global_variables_initializer())
    for variable in tf.global_variables():
        variable.load(values[variable.op.name], session)
    return DeviceProgram(
        step=lambda: session.run(train_op),
        wait=wait,
        observe=lambda: float(session.run([loss, train_op])[0]),
    )


def penstock_null(device: str) -> DeviceProgram:
    tf, session, wait = penstock_session(device)
    count = tf.Variable(0.0)
    added = count.assign_add(1.0)
    session.run(tf.global_variables_initializer())
    return DeviceProgram(
        lambda: session.run(added.op), wait, lambda: float(session.run(added)), host_bound=True
    )


# PyTorch --------------------------------------------------------------------------------------


def torch_program(
    network: ImageNetwork, variant: str, device: str, *, compiled: bool = False
) -> DeviceProgram:
    """Variant: a memory format, and for the compiler a mode behind it: "channels_last default"."""
    import torch

    _torch_settings(torch)
    layout, _, mode = variant.partition(" ")
    memory_format = getattr(torch, layout)
    module = torch_network(torch, network).to(device, memory_format=memory_format)
    images, labels = (torch.from_numpy(array).to(device) for array in network.data())
    images = images.permute(0, 3, 1, 2).contiguous(memory_format=memory_format)
    on_gpu = device == "cuda"
    optimizer = torch.optim.SGD(module.parameters(), lr=network.rate, fused=on_gpu)

    def loss_of(images: Any, labels: Any) -> Any:
        return torch.nn.functional.cross_entropy(module(images), labels)

    if compiled:
        loss_of = torch.compile(loss_of, dynamic=False, mode=mode)

    def step() -> Any:
        if compiled:
            torch.compiler.cudagraph_mark_step_begin()
        optimizer.zero_grad()
        loss = loss_of(images, labels)
        loss.backward()
        optimizer.step()
        return loss

    return DeviceProgram(step, _torch_wait(torch, device), lambda: float(step().detach()))


def torch_null(device: str, *, compiled: bool = False) -> DeviceProgram:
    import torch

    count = torch.zeros((), device=device)

    def add() -> Any:
        return count.add_(1)

    step = torch.compile(add) if compiled else add
    return DeviceProgram(step, _torch_wait(torch, device), lambda: float(step()), host_bound=True)


# JAX ------------------------------------------------------------------------------------------


def jax_program(network: ImageNetwork, variant: str, device: str) -> DeviceProgram:
    import jax

    jax.config.update("jax_default_matmul_precision", "tensorfloat32")
    loss_of = jax_loss(jax, network, variant)
    images, labels = network.data()
    batch = jax.device_put((in_layout(variant, images), labels.astype("int32")))
    weights = jax.device_put(network.initial_values())

    def train(weights: Any, images: Any, labels: Any) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(weights, images, labels)
        return loss, jax.tree.map(lambda w, g: w - network.rate * g, weights, gradients)

    # Donating the old weights lets XLA update them in place.
    compiled = jax.jit(train, donate_argnums=0)

    def step() -> Any:
        nonlocal weights
        loss, weights = compiled(weights, *batch)
        return loss

    return DeviceProgram(step, lambda: jax.block_until_ready(weights), lambda: float(step()))


def jax_null(device: str) -> DeviceProgram:
    import jax

    count = jax.device_put(jax.numpy.zeros(()))
    add = jax.jit(lambda count: count + 1, donate_argnums=0)

    def step() -> Any:
        nonlocal count
        count = add(count)
        return count

    def wait() -> object:
        return count.block_until_ready()

    return DeviceProgram(step, wait, lambda: float(step()), host_bound=True)
