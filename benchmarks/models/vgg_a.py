"""VGG's model A, as in convnet-benchmarks: 224×224, no dropout; batch 64."""

from benchmarks.image_network import Connection, Convolution, ImageNetwork, Layer, Pool


def _group(*names_and_channels: tuple[str, int]) -> tuple[Layer, ...]:
    """Convolutions of 3×3, and the pooling behind them."""
    return (*(Convolution(name, 3, n, pad=1) for name, n in names_and_channels), Pool(2, 2))


NETWORK = ImageNetwork(
    title="VGG-A, batch 64",
    size=224,
    batch=64,
    rate=1e-5,
    layers=(
        *_group(("conv1", 64)),
        *_group(("conv2", 128)),
        *_group(("conv3", 256), ("conv4", 256)),
        *_group(("conv5", 512), ("conv6", 512)),
        *_group(("conv7", 512), ("conv8", 512)),
        Connection("fc9", 4096),
        Connection("fc10", 4096),
        Connection("fc11", 1000, rectified=False),
    ),
)
