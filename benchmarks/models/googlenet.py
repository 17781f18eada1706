"""GoogLeNet (Inception v1), as in convnet-benchmarks: 224×224, one loss, no normalization."""

from benchmarks.image_network import Branches, Connection, Convolution, ImageNetwork, Pool


def _inception(
    name: str, one: int, three: tuple[int, int], five: tuple[int, int], pooled: int
) -> Branches:
    """Convolutions of 1×1, 3×3 and 5×5 behind one of 1×1, and 1×1 behind a pooling."""
    return Branches(
        (
            (Convolution(f"{name}_1x1", 1, one),),
            (
                Convolution(f"{name}_3x3_reduce", 1, three[0]),
                Convolution(f"{name}_3x3", 3, three[1], pad=1),
            ),
            (
                Convolution(f"{name}_5x5_reduce", 1, five[0]),
                Convolution(f"{name}_5x5", 5, five[1], pad=2),
            ),
            (Pool(3, 1, same=True), Convolution(f"{name}_pool", 1, pooled)),
        )
    )


NETWORK = ImageNetwork(
    title="GoogLeNet, batch 128",
    size=224,
    batch=128,
    layers=(
        Convolution("conv1", 7, 64, stride=2, pad=3),
        Pool(3, 2, same=True),
        Convolution("conv2_reduce", 1, 64),
        Convolution("conv2", 3, 192, pad=1),
        Pool(3, 2, same=True),
        _inception("3a", 64, (96, 128), (16, 32), 32),
        _inception("3b", 128, (128, 192), (32, 96), 64),
        Pool(3, 2, same=True),
        _inception("4a", 192, (96, 208), (16, 48), 64),
        _inception("4b", 160, (112, 224), (24, 64), 64),
        _inception("4c", 128, (128, 256), (24, 64), 64),
        _inception("4d", 112, (144, 288), (32, 64), 64),
        _inception("4e", 256, (160, 320), (32, 128), 128),
        Pool(3, 2, same=True),
        _inception("5a", 256, (160, 320), (32, 128), 128),
        _inception("5b", 384, (192, 384), (48, 128), 128),
        Pool(7, 1, mean=True),
        Connection("loss", 1000, rectified=False),
    ),
)
