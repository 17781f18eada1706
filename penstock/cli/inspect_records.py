"""Event files and TFRecord files, as `penstock inspect` shows them."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from penstock import errors, proto
from penstock.cli.file_kinds import Found, Unreadable
from penstock.cli.inspect_tensors import plain
from penstock.cli.rows import Row, Wanted, count_text, size_text
from penstock.debugger.value_text import statistics, statistics_line
from penstock.ir.tensor_codec import proto_to_array
from penstock.platform.record_files import RecordReader

# Event files ----------------------------------------------------------------------------------


@dataclass
class _Tag:
    """What an event file has under one tag."""

    kind: str
    steps: list[int] = field(default_factory=list)
    scalars: list[float] = field(default_factory=list)
    last: str = ""


def _records(found: Found) -> Iterator[tuple[int, bytes]]:
    """The records of a file with their places; DataLossError where one is damaged."""
    reader = RecordReader(found.path, found.form)
    try:
        while True:
            offset = reader.offset
            record = reader.read()
            if record is None:
                return
            yield offset, record
    finally:
        reader.close()


def event_rows(found: Found, wanted: Wanted) -> Iterator[Row]:
    """A row for the file and one for each tag; or one for each value of a tag."""
    if wanted.tensor:
        yield from _values_of_tag(found, wanted)
        return
    tags: dict[str, _Tag] = {}
    others: dict[str, int] = {}
    times: list[float] = []
    count, damage = 0, None
    try:
        for _, record in _records(found):
            event = proto.Event.FromString(record)
            count += 1
            times.append(event.wall_time)
            _collect(event, tags, others)
    except errors.DataLossError as error:
        damage = error  # shown after what could be read
    yield _event_head(found, count, times, others)
    shown = 0
    for name, tag in tags.items():
        if not wanted.has(name, tag.kind):
            continue
        yield _tag_row(name, tag, with_statistics=wanted.statistics)
        shown += 1
        if wanted.is_enough(shown):
            break
    if damage is not None:
        raise damage


def _collect(event: Any, tags: dict[str, _Tag], others: dict[str, int]) -> None:
    what = event.WhichOneof("what") or "nothing"
    if what != "summary":
        others[what] = others.get(what, 0) + 1
    for value in event.summary.value:
        kind, scalar, last = _described(value)
        tag = tags.setdefault(value.tag or value.node_name, _Tag(kind))
        tag.steps.append(event.step)
        tag.last = last
        if scalar is not None:
            tag.scalars.append(scalar)


def _described(value: Any) -> tuple[str, float | None, str]:
    """The kind of a summary's value, the number if it is one, and a few words."""
    kind = value.WhichOneof("value") or "nothing"
    if kind == "simple_value":
        return "scalar", value.simple_value, f"{value.simple_value:.6g}"
    if kind == "histo":
        histogram = value.histo
        words = f"n={histogram.num:g} min={histogram.min:.6g} max={histogram.max:.6g}"
        return "histogram", None, words
    if kind == "image":
        image = value.image
        size = size_text(len(image.encoded_image_string))
        return "image", None, f"{image.height}x{image.width}x{image.colorspace}, {size}"
    if kind == "audio":
        return "audio", None, f"{value.audio.sample_rate:g} Hz, {value.audio.content_type}"
    if kind == "tensor":
        array = proto_to_array(value.tensor)
        plugin = value.metadata.plugin_data.plugin_name
        is_number = array.ndim == 0 and array.dtype.kind in "fiu"
        words = f"{array[()]:.6g}" if is_number else statistics_line(array)
        return plugin or "tensor", float(array) if is_number else None, words
    return kind, None, ""


def _event_head(found: Found, count: int, times: list[float], others: dict[str, int]) -> Row:
    real = [each for each in times if each > 0]
    first, last = (_time(min(real)), _time(max(real))) if real else ("", "")
    data = {
        "kind": "event file",
        "path": found.path,
        "events": count,
        "first": first,
        "last": last,
        "other_events": others,
    }
    text = f"event file {found.path}: {count_text(count, 'event')}, {first} to {last}"
    if rest := ", ".join(f"{number} {what}" for what, number in sorted(others.items())):
        text += f" ({rest})"
    return Row(text, data)


def _time(seconds: float) -> str:
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def _tag_row(name: str, tag: _Tag, *, with_statistics: bool) -> Row:
    data: dict[str, Any] = {
        "tag": name,
        "kind": tag.kind,
        "count": len(tag.steps),
        "first_step": min(tag.steps),
        "last_step": max(tag.steps),
        "last": tag.scalars[-1] if tag.scalars else tag.last,
    }
    text = (
        f"{name}  {tag.kind}, {count_text(len(tag.steps), 'value')}, steps "
        f"{data['first_step']} to {data['last_step']}, last {tag.last}"
    )
    if with_statistics and tag.scalars:
        data["values"] = statistics(np.array(tag.scalars))
        text += f"  {statistics_line(np.array(tag.scalars))}"
    return Row(text, data)


def _values_of_tag(found: Found, wanted: Wanted) -> Iterator[Row]:
    shown = 0
    for _, record in _records(found):
        event = proto.Event.FromString(record)
        for value in event.summary.value:
            if wanted.tensor not in (value.tag, value.node_name):
                continue
            kind, scalar, words = _described(value)
            data = {
                "step": event.step,
                "wall_time": event.wall_time,
                "kind": kind,
                "value": words if scalar is None else scalar,
            }
            yield Row(f"{event.step}\t{event.wall_time:.6f}\t{words}", data)
            shown += 1
            if wanted.is_enough(shown):
                return
    if not shown:
        raise Unreadable(f"{found.path}: there is no tag {wanted.tensor!r}")


# TFRecord files -------------------------------------------------------------------------------


def record_rows(found: Found, wanted: Wanted) -> Iterator[Row]:
    """A row for each record, with the features of an Example; and one for the file at the end."""
    count = shown = total = 0
    damage = None
    try:
        for offset, record in _records(found):
            row = _record(count, offset, record, wanted)
            count += 1
            total += len(record)
            if row is not None and not wanted.is_enough(shown):
                shown += 1
                yield row
    except errors.DataLossError as error:
        damage = error
    if not wanted.tensor:
        size = os.path.getsize(found.path)
        data = {
            "kind": "TFRecord file",
            "path": found.path,
            "records": count,
            "bytes": total,
            "compression": found.form,
        }
        packed = f", {found.form} in {size_text(size)}" if found.form else ""
        summary = f"{count_text(count, 'record')}, {size_text(total)}{packed}"
        yield Row(f"TFRecord file {found.path}: {summary}", data)
    if damage is not None:
        raise damage
    if wanted.tensor and not shown:
        raise Unreadable(f"{found.path}: no record has a feature {wanted.tensor!r}")


def _record(number: int, offset: int, record: bytes, wanted: Wanted) -> Row | None:
    features = features_of(record)
    if wanted.tensor:
        if features is None or wanted.tensor not in features:
            return None
        values = features[wanted.tensor]
        text = f"{number}\t{values.tolist() if values.dtype != object else list(values)}"
        return Row(text, {"record": number, "values": plain(values)})
    shown = {name: f"{_kind(each)}[{each.size}]" for name, each in (features or {}).items()}
    texts = [f"{name}: {kind}" for name, kind in sorted(shown.items())]
    if not wanted.has(*texts, record.decode("utf-8", "replace")):
        return None
    text = f"{number}  at {offset}, {size_text(len(record))}"
    if features is None:
        text += f"  {_beginning(record)}"
    else:
        text += "  " + ", ".join(texts)
    data: dict[str, Any] = {
        "record": number,
        "offset": offset,
        "bytes": len(record),
        "features": shown or None,
    }
    if wanted.statistics and features:
        data["statistics"] = {name: statistics(each) for name, each in features.items()}
        lines = (f"\n    {name}: {statistics_line(each)}" for name, each in features.items())
        text += "".join(lines)
    return Row(text, data)


def features_of(record: bytes) -> dict[str, np.ndarray] | None:
    """The features of an Example; None where a record is something else."""
    try:
        example = proto.Example.FromString(record)
    except DecodeError:
        return None
    if not example.features.feature:
        return None
    found = {}
    for name, feature in example.features.feature.items():
        kind = feature.WhichOneof("kind")
        values = getattr(feature, kind).value if kind else []
        types: dict[str, Any] = {"int64_list": np.int64, "float_list": np.float32}
        found[name] = np.array(list(values), dtype=types.get(kind, object))
    return found


def _kind(values: np.ndarray) -> str:
    return "bytes" if values.dtype == object else values.dtype.name


def _beginning(record: bytes) -> str:
    start = record[:60]
    text = start.decode("utf-8", "backslashreplace")
    shown = "".join(each if each.isprintable() else "." for each in text)
    return shown + ("…" if len(record) > len(start) else "")
