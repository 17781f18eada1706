"""OverFeat, its fast model, as in convnet-benchmarks: 231×231, no dropout; batch 128."""

from benchmarks.image_network import Connection, Convolution, ImageNetwork, Pool

NETWORK = ImageNetwork(
    title="OverFeat fast, batch 128",
    size=231,
    batch=128,
    rate=1e-5,
    layers=(
        Convolution("conv1", 11, 96, stride=4),
        Pool(2, 2),
        Convolution("conv2", 5, 256),
        Pool(2, 2),
        Convolution("conv3", 3, 512, pad=1),
        Convolution("conv4", 3, 1024, pad=1),
        Convolution("conv5", 3, 1024, pad=1),
        Pool(2, 2),
        Connection("fc6", 3072),
        Connection("fc7", 4096),
        Connection("fc8", 1000, rectified=False),
    ),
)
