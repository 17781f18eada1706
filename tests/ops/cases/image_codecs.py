"""Pictures in files.

The files are made by hand where their bytes must not depend on a library: PNG and BMP of every
kind, GIF, and one small JPEG file of each kind of color.
"""

import base64
import struct
import zlib

import numpy as np

from tests.ops.case import Case, array, ints, string, u8

RNG = np.random.RandomState(7)


# PNG ------------------------------------------------------------------------------------------


def png_chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I4s", len(content), kind) + content + struct.pack(">I", checksum)


def png(depth: int, color: int, width: int, height: int, *extra: tuple[bytes, bytes]) -> bytes:
    """A file of random pixels; its rows use each of the five filters in turn."""
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]
    row = (depth * channels * width + 7) // 8
    rows = b"".join(bytes([i % 5]) + RNG.bytes(row) for i in range(height))
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    chunks = [(b"IHDR", header), *extra, (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(*entry) for entry in chunks)


def _palette(depth: int, *, transparent: bool) -> list[tuple[bytes, bytes]]:
    chunks = [(b"PLTE", RNG.bytes(3 << depth))]
    return chunks + [(b"tRNS", b"\x00\x64")] if transparent else chunks


PNGS = {
    "gray 1": png(1, 0, 13, 4),
    "gray 2": png(2, 0, 13, 4),
    "gray 4": png(4, 0, 13, 4),
    "gray 8": png(8, 0, 5, 6),
    "gray 16": png(16, 0, 5, 6),
    "gray alpha 8": png(8, 4, 5, 6),
    "gray alpha 16": png(16, 4, 5, 6),
    "rgb 8": png(8, 2, 5, 6),
    "rgb 16": png(16, 2, 5, 6),
    "rgba 8": png(8, 6, 5, 6),
    "rgba 16": png(16, 6, 5, 6),
    "palette 1": png(1, 3, 13, 4, *_palette(1, transparent=False)),
    "palette 4": png(4, 3, 13, 4, *_palette(4, transparent=False)),
    "palette 8": png(8, 3, 13, 4, *_palette(8, transparent=False)),
    "palette alpha 8": png(8, 3, 13, 4, *_palette(8, transparent=True)),
    "gray key 2": png(2, 0, 13, 4, (b"tRNS", b"\x00\x01")),
}


# GIF ------------------------------------------------------------------------------------------


def _packed(pixels: np.ndarray, bits: int) -> bytes:
    """Pixels in GIF's code without compression: the table is cleared before its codes widen."""
    clear, number, length = 1 << bits, 0, 0
    codes = [clear]
    for i, pixel in enumerate(pixels.reshape(-1).tolist()):
        codes += [clear, pixel] if i and i % (clear - 2) == 0 else [pixel]
    for code in [*codes, clear + 1]:
        number |= code << length
        length += bits + 1
    data = number.to_bytes((length + 7) // 8, "little")
    parts = [data[i : i + 255] for i in range(0, len(data), 255)]
    return bytes([bits]) + b"".join(bytes([len(part)]) + part for part in parts) + b"\0"


def _frame(left: int, top: int, width: int, height: int, transparent: int | None = None) -> bytes:
    pixels = RNG.randint(0, 16, (height, width))
    control = b""
    if transparent is not None:
        control = b"\x21\xf9\x04" + struct.pack("<BHBB", 1, 5, transparent, 0)
    place = struct.pack("<HHHHB", left, top, width, height, 0)
    return control + b"\x2c" + place + _packed(pixels, 4)


def gif(*frames: bytes) -> bytes:
    screen = struct.pack("<HHBBB", 7, 6, 0x83, 0, 0)
    return b"GIF89a" + screen + RNG.bytes(48) + b"".join(frames) + b";"


GIFS = {
    "one frame": gif(_frame(0, 0, 7, 6)),
    "two frames": gif(_frame(0, 0, 7, 6), _frame(0, 0, 7, 6)),
    "part of a frame": gif(_frame(0, 0, 7, 6), _frame(2, 1, 3, 4)),
    "transparent": gif(_frame(0, 0, 7, 6, 3), _frame(0, 0, 7, 6, 5), _frame(1, 1, 4, 4, 2)),
    "beyond the edge": gif(_frame(0, 0, 7, 6), _frame(4, 4, 4, 4)),
}


# BMP and JPEG ---------------------------------------------------------------------------------


def bmp(bits: int, width: int = 5, height: int = 3) -> bytes:
    data = RNG.bytes((bits * width + 31) // 32 * 4 * abs(height))
    header = struct.pack("<IHHI", 54 + len(data), 0, 0, 54)
    about = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, 0, 0, 0, 0, 0, 0)
    return b"BM" + header + about + data


BMPS = {"8": bmp(8), "24": bmp(24), "32": bmp(32), "top down": bmp(24, height=-3)}

_JPEGS = {
    "rgb": """
    /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhl
    bXd7gYKBTmCNl4x9lnN+gXz/2wBDARUXFx4aHjshITt8U0ZTfHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8
    fHx8fHx8fHx8fHx8fHz/wAARCAARABYDASIAAhEBAxEB/8QAGAABAAMBAAAAAAAAAAAAAAAAAAIEBQb/xAAhEAACAgICAQUA
    AAAAAAAAAAAAAQIDBAUREiExMjNBof/EABYBAQEBAAAAAAAAAAAAAAAAAAUEAv/EACARAAICAAYDAAAAAAAAAAAAAAABAgME
    BRESITIxM0H/2gAMAwEAAhEDEQA/AIzz3NcRKVtFmQ/PJoa7XuSTkX7a6qIfQfTGO7SKK7rYV07YeTFx9Ykn2QJ5GyhXPqvw
    CLwy+vkC0vlyb2J8aKOz9GASZb7EJvoco/ewAXV9UZR//9k=
    """,
    "gray": """
    /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhl
    bXd7gYKBTmCNl4x9lnN+gXz/wAALCAARABYBAREA/8QAGAABAAMBAAAAAAAAAAAAAAAABAIDBQb/xAAhEAABBAEDBQAAAAAA
    AAAAAAABAAIDBAUREiExMjNBof/aAAgBAQAAPwCL75eNGoUsElg86q2vjAAdwS8djy4AuT5Y4oGelkWMkyN+0fFvVPGEHJ9C
    uUPeV//Z
    """,
    "cmyk": """
    /9j/7gAOQWRvYmUAZAAAAAAA/9sAQwAUDg8SDw0UEhASFxUUGB4yIR4cHB49LC4kMklATEtHQEZFUFpzYlBVbVZFRmSIZW13
    e4GCgU5gjZeMfZZzfoF8/8AAFAgAEQAWBEMRAE0RAFkRAEsRAP/EABgAAAMBAQAAAAAAAAAAAAAAAAAFBgQD/8QAJRAAAQMD
    BAICAwAAAAAAAAAAAAECAwQFERIhMjMxQ0FCUYHw/9oADgRDAE0AWQBLAAA/AHVs6UOFfenSKrY1JGKPWWYuvvFRfFTVFa/K
    5wpriodfwBJexw+orG1rMvTdTXHaNScQL62dKGS32RXKjpEMlBHrwAuvvFR22Onomb4yhS0FDrxsBJexwsrb41j8MXY11VdQ
    WuVIJmySy4y5sTUXR+M5VPP98AX1s6UHcPWStq+oC6+8VE928KWdq+oEl7HEvNzUirf1/oD/2Q==
    """,
    "progressive": """
    /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhl
    bXd7gYKBTmCNl4x9lnN+gXz/2wBDARUXFx4aHjshITt8U0ZTfHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8
    fHx8fHx8fHx8fHx8fHz/wgARCAARABYDAREAAhEBAxEB/8QAGAAAAgMAAAAAAAAAAAAAAAAAAwQBAgX/xAAYAQADAQEAAAAA
    AAAAAAAAAAADBAUBAv/aAAwDAQACEAMQAAABhNkBsv1OKGiwZRNkD8xsFHMrjP/EABsQAAMBAAMBAAAAAAAAAAAAAAABAwIQ
    ERIx/9oACAEBAAEFAvY09GZk5jSRqnRn5Tj/xAAbEQADAQADAQAAAAAAAAAAAAAAAQMCEBETIf/aAAgBAwEBPwGePhVpDoeh
    VtmZ9iNcf//EABsRAAMAAgMAAAAAAAAAAAAAAAABAgMREiEx/9oACAECAQE/AVAkkaOREtmpnpiMBHh//8QAFBABAAAAAAAA
    AAAAAAAAAAAAMP/aAAgBAQAGPwIf/8QAGhAAAgMBAQAAAAAAAAAAAAAAAAEQETFBUf/aAAgBAQABPyF3yE9SzRCJapvT/9oA
    DAMBAAIAAwAAABA4cyZf/8QAGBEBAAMBAAAAAAAAAAAAAAAAAQARIRD/2gAIAQMBAT8QM1BY95ChRwU12J//xAAbEQACAgMB
    AAAAAAAAAAAAAAAAARAxEUFRYf/aAAgBAgEBPxDvGPKh8DkeyPwvI//EABoQAQEBAQADAAAAAAAAAAAAAAEAETEhQaH/2gAI
    AQEAAT8Qc5HPOwg4mAz1ewr5crlnu//Z
    """,
}
JPEGS = {name: base64.b64decode(text) for name, text in _JPEGS.items()}
FILES = {
    **{f"jpeg {name}": data for name, data in JPEGS.items()},
    "png": PNGS["rgb 8"],
    "png 16": PNGS["gray 16"],
    "gif": GIFS["one frame"],
    "animation": GIFS["two frames"],
    "bmp": BMPS["24"],
}


CASES: list[Case] = []
for name, data in PNGS.items():
    for channels in (0, 1, 3, 4):
        for dtype in ("uint8", "uint16"):
            CASES.append(
                Case(
                    "DecodePng",
                    (string(data),),
                    {"channels": channels, "dtype": dtype},
                    label=f"{name} to {channels} of {dtype}",
                )
            )
for name, data in GIFS.items():
    CASES.append(Case("DecodeGif", (string(data),), label=name))
for name, data in BMPS.items():
    for channels in (0, 3, 4):
        label = f"{name} to {channels}"
        CASES.append(Case("DecodeBmp", (string(data),), {"channels": channels}, label=label))
for name, data in JPEGS.items():
    for channels in (0, 3) if name == "cmyk" else (0, 1, 3):
        for ratio in (1, 2, 4, 8):
            for method in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
                attrs = {"channels": channels, "ratio": ratio, "dct_method": method}
                label = f"{name} to {channels} by {ratio} {method.lower()}"
                CASES.append(Case("DecodeJpeg", (string(data),), attrs, label=label.strip()))
    CASES += [
        Case(
            "DecodeJpeg", (string(data),), {"fancy_upscaling": False}, label=f"{name} plain colors"
        ),
        Case("ExtractJpegShape", (string(data),), label=name),
        Case("ExtractJpegShape", (string(data),), {"output_type": "int64"}, label=f"{name} int64"),
        # Accurate at the window's edges too, unlike TensorFlow: so no subsampled colors here.
        *(
            Case(
                "DecodeAndCropJpeg",
                (string(data), array(window, "int32")),
                label=f"{name} {window[0]}",
            )
            for window in ([3, 5, 8, 10], [0, 0, 17, 22])
            if name != "rgb"
        ),
    ]
for window in ([-1, 0, 5, 5], [0, 0, 18, 5], [3, 3, 0, 5]):
    inputs = string(JPEGS["gray"]), array(window, "int32")
    CASES.append(Case("DecodeAndCropJpeg", inputs, label=f"window {window}", fails=True))
for name, data in FILES.items():
    for dtype in ("uint8", "uint16", "float32"):
        CASES += [
            Case("DecodeImage", (string(data),), {"dtype": dtype}, label=f"{name} {dtype}"),
            Case(
                "DecodeImage",
                (string(data),),
                {"dtype": dtype, "expand_animations": False, "channels": 3},
                label=f"{name} {dtype} first frame",
            ),
        ]
    is_jpeg, is_bmp = name.startswith("jpeg"), name == "bmp"
    CASES += [
        Case("DecodeJpeg", (string(data),), label=f"of {name}", fails=name in ("animation", "bmp")),
        Case("DecodePng", (string(data),), label=f"of {name}", fails=name in ("animation", "bmp")),
        Case("DecodeGif", (string(data),), label=f"of {name}", fails=is_bmp),
        Case("DecodeBmp", (string(data),), label=f"of {name}", fails=not is_bmp),
    ]
    if not is_jpeg:
        inputs = string(data), array([0, 0, 2, 2], "int32")
        CASES.append(Case("DecodeAndCropJpeg", inputs, label=f"of {name}", fails=True))
for op in ("DecodeJpeg", "DecodePng", "DecodeGif", "DecodeBmp", "DecodeImage"):
    CASES += [
        Case(op, (string(b""),), label="nothing", fails=True),
        Case(op, (string(b"no picture"),), label="no picture", fails=True),
        Case(op, (array([b"", b""], "object"),), label="two files", fails=True),
    ]
for name, data in (("jpeg", JPEGS["rgb"]), ("png", PNGS["rgb 8"]), ("gif", GIFS["one frame"])):
    CASES.append(Case("DecodeImage", (string(data[:60]),), label=f"{name} cut off", fails=True))
CASES += [
    Case("DecodeImage", (string(BMPS["24"][:-5]),), label="bmp cut off", fails=True),
    Case("DecodeImage", (string(bmp(16)),), label="bmp of 16 bits", fails=True),
    Case("DecodeJpeg", (string(JPEGS["rgb"]),), {"channels": 2}, label="two channels", fails=True),
    Case("DecodeJpeg", (string(JPEGS["rgb"]),), {"channels": 4}, label="four channels", fails=True),
    Case("DecodeJpeg", (string(JPEGS["rgb"]),), {"ratio": 3}, label="ratio", fails=True),
    Case("DecodeJpeg", (string(JPEGS["rgb"]),), {"channels": -1}, label="negative", fails=True),
    Case("ExtractJpegShape", (string(b"no picture"),), label="no picture", fails=True),
]

JPEG_SETTINGS: dict[str, dict] = {
    "plain": {},
    "low quality": {"quality": 20},
    "best quality": {"quality": 100},
    "full colors": {"chroma_downsampling": False},
    "progressive": {"progressive": True},
    "optimized": {"optimize_size": True},
    "per centimeter": {"density_unit": "cm", "x_density": 72, "y_density": 90},
    "metadata": {"xmp_metadata": "<x:xmpmeta/>"},
}
for name, attrs in JPEG_SETTINGS.items():
    CASES += [
        Case("EncodeJpeg", (u8(0, 256, 9, 11, 3),), attrs, label=name),
        Case("EncodeJpeg", (u8(0, 256, 9, 11, 1),), attrs, label=f"{name} gray"),
    ]
CASES += [
    Case("EncodeJpeg", (u8(0, 256, 9, 11, 3),), {"format": "rgb"}, label="format"),
    Case("EncodeJpeg", (u8(0, 256, 9, 11, 3),), {"format": "grayscale"}, label="not", fails=True),
    Case("EncodeJpeg", (u8(0, 256, 9, 11, 2),), label="two channels", fails=True),
    Case("EncodeJpeg", (u8(0, 256, 9, 11),), label="two dimensions", fails=True),
    Case("EncodeJpeg", (u8(0, 256, 9, 11, 3),), {"quality": 101}, label="quality", fails=True),
    Case("EncodeJpegVariableQuality", (u8(0, 256, 9, 11, 3), array(30, "int32"))),
    Case(
        "EncodeJpegVariableQuality",
        (u8(0, 256, 9, 11, 3), array(-1, "int32")),
        label="quality",
        fails=True,
    ),
    # The bytes depend on the version of zlib; tests/ops/test_image_codecs.py decodes them.
    Case("EncodePng", (u8(0, 256, 9, 11, 3),), shape_only=True),
    Case("EncodePng", (u8(0, 256, 2, 3, 9, 11, 3),), shape_only=True, label="batch"),
    Case("EncodePng", (ints("uint16", 0, 1 << 16, 9, 11, 4),), shape_only=True, label="uint16"),
    Case("EncodePng", (u8(0, 256, 9, 11, 5),), label="five channels", fails=True),
    Case("EncodePng", (u8(0, 256, 9, 11),), label="two dimensions", fails=True),
    Case("EncodePng", (u8(0, 256, 9, 11, 3),), {"compression": 10}, label="level", fails=True),
]
