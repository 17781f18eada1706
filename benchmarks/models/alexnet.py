"""AlexNet in one tower, as in convnet-benchmarks: no normalization, no dropout; batch 16."""

from dataclasses import replace
from typing import Any

from benchmarks.image_network import Connection, Convolution, ImageNetwork, Pool
from benchmarks.jax_network import jax_loss
from benchmarks.layouts import LAYOUTS, in_layout, torch_image_feed
from benchmarks.model import Compile, Model, Program, pytorch, sessions
from benchmarks.session_network import SessionNetwork
from benchmarks.torch_network import torch_network
from benchmarks.training import gradient_descent, jax_program, session_program, torch_program

NETWORK = ImageNetwork(
    title="AlexNet, batch 128",
    size=224,
    batch=128,
    layers=(
        Convolution("conv1", 11, 64, stride=4, pad=2),
        Pool(3, 2),
        Convolution("conv2", 5, 192, pad=2),
        Pool(3, 2),
        Convolution("conv3", 3, 384, pad=1),
        Convolution("conv4", 3, 256, pad=1),
        Convolution("conv5", 3, 256, pad=1),
        Pool(3, 2),
        Connection("fc6", 4096),
        Connection("fc7", 4096),
        Connection("fc8", 1000, rectified=False),
    ),
)
ON_CPU = replace(NETWORK, title="AlexNet, batch 16", batch=16)


def build_session(tf: Any) -> Program:
    images, labels = ON_CPU.data()
    x = tf.placeholder(tf.float32, images.shape)
    y = tf.placeholder(tf.int64, labels.shape)
    loss, train_op = SessionNetwork(tf, ON_CPU).training(x, y)
    return session_program(tf, loss, train_op, {x: images, y: labels}, ON_CPU.initial_values())


def build_torch(torch: Any, variant: str, compile: Compile) -> Program:
    network = torch_network(torch, ON_CPU).to(memory_format=getattr(torch, variant))
    optimizer = torch.optim.SGD(network.parameters(), lr=ON_CPU.rate)
    fed = torch_image_feed(torch, variant, *ON_CPU.data())
    return torch_program(compile, network, optimizer, torch.nn.functional.cross_entropy, fed)


def build_jax(jax: Any, variant: str) -> Program:
    images, labels = ON_CPU.data()
    return jax_program(
        jax,
        jax_loss(jax, ON_CPU, variant),
        {"parameters": ON_CPU.initial_values()},
        in_layout(variant, images),
        labels,
        gradient_descent(jax, ON_CPU.rate),
    )


MODEL = Model(
    title=ON_CPU.title,
    steps=2,
    builders={**sessions(build_session), **pytorch(build_torch), "jax": build_jax},
    variants=LAYOUTS,
    memory=True,
)
