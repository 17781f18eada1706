"""Device names: parsing, printing, and merging what nested `tf.device` scopes ask for."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

# (job, replica, task, device_type, device_index); None is a field left open.
_Fields = tuple[str | None, int | None, int | None, str | None, int | None]

# Device types that may stand without "device:" before them, as in "/gpu:0".
_SHORT_FORM_TYPES = frozenset({"CPU", "GPU", "TPU", "CUSTOM", "EPU"})


class DeviceSpec:
    """A full or partial device name, e.g. `/job:ps/task:1/device:CPU:0`, as five fields.

    A field that is None is open: any value of it will do.
    """

    __slots__ = ("_device_index", "_device_type", "_job", "_replica", "_task")

    def __init__(
        self,
        job: Any = None,
        replica: Any = None,
        task: Any = None,
        device_type: Any = None,
        device_index: Any = None,
    ) -> None:
        self.job = job
        self.replica = replica
        self.task = task
        self.device_type = device_type
        self.device_index = device_index

    @classmethod
    def from_string(cls, spec: str | None) -> DeviceSpec:
        """The spec that a device string describes; `""` and None leave every field open."""
        return cls()._set(_parse(spec or ""))

    def parse_from_string(self, spec: str | None) -> DeviceSpec:
        """Replaces every field of this spec by those of a device string; returns this spec."""
        return self._set(_parse(spec or ""))

    @property
    def job(self) -> str | None:
        return self._job

    @job.setter
    def job(self, job: Any) -> None:
        self._job = None if job is None else str(job)

    @property
    def replica(self) -> int | None:
        return self._replica

    @replica.setter
    def replica(self, replica: Any) -> None:
        self._replica = None if replica is None else int(replica)

    @property
    def task(self) -> int | None:
        return self._task

    @task.setter
    def task(self, task: Any) -> None:
        self._task = None if task is None else int(task)

    @property
    def device_type(self) -> str | None:
        return self._device_type

    @device_type.setter
    def device_type(self, device_type: Any) -> None:
        self._device_type = None if device_type is None else _canonical_type(str(device_type))

    @property
    def device_index(self) -> int | None:
        return self._device_index

    @device_index.setter
    def device_index(self, device_index: Any) -> None:
        self._device_index = None if device_index is None else int(device_index)

    def to_string(self) -> str:
        """The canonical device string; open fields are left out."""
        return _format(self._fields())

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """A new spec with `dev`'s fields where they are set and this spec's elsewhere."""
        return type(self)(*_merge(self._fields(), dev._fields()))

    def merge_from(self, dev: DeviceSpec) -> None:
        """Takes over `dev`'s fields where they are set."""
        self._set(_merge(self._fields(), dev._fields()))

    def replace(self, **kwargs: Any) -> DeviceSpec:
        """A new spec with the named fields replaced; None opens a field."""
        fields = dict(zip(_FIELD_NAMES, self._fields(), strict=True))
        return type(self)(**{**fields, **kwargs})

    def _fields(self) -> _Fields:
        return (self._job, self._replica, self._task, self._device_type, self._device_index)

    def _set(self, fields: _Fields) -> DeviceSpec:
        self._job, self._replica, self._task, self._device_type, self._device_index = fields
        return self

    def __eq__(self, other: object) -> bool:
        # TensorFlow compares device strings: an index without a type says nothing.
        return isinstance(other, DeviceSpec) and self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash(self.to_string())

    def __repr__(self) -> str:
        fields = zip(_FIELD_NAMES, self._fields(), strict=True)
        return f"<DeviceSpec({', '.join(f'{name}={value}' for name, value in fields)})>"


_FIELD_NAMES = ("job", "replica", "task", "device_type", "device_index")


class DeviceSpecV2(DeviceSpec):
    """A device name whose fields are given once: changes make another one."""

    __slots__ = ()

    def __init__(
        self,
        job: Any = None,
        replica: Any = None,
        task: Any = None,
        device_type: Any = None,
        device_index: Any = None,
    ) -> None:
        made = DeviceSpec(job, replica, task, device_type, device_index)
        for field in DeviceSpec.__slots__:
            object.__setattr__(self, field, getattr(made, field))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"can't set attribute {name!r} of a DeviceSpecV2")

    @classmethod
    def from_string(cls, spec: str | None) -> DeviceSpecV2:
        return cls(*_parse(spec or ""))

    def parse_from_string(self, spec: str | None) -> DeviceSpecV2:
        return self.from_string(spec)


def is_device_spec(obj: Any) -> bool:
    """Whether an object is a spec of either kind."""
    return isinstance(obj, DeviceSpec)


class MergeDevice:
    """The device function of a `tf.device` scope that names a device.

    Scopes are applied from the innermost out: a field that the node has already is kept, the
    scope's own fields fill the open ones.
    """

    __slots__ = ("_fields", "is_null_merge")

    def __init__(self, fields: _Fields) -> None:
        self._fields = fields
        #: Whether the scope names no device at all, so that it is passed over.
        self.is_null_merge = not _format(fields)

    def __call__(self, node_def: Any) -> DeviceSpec:
        """The spec for a node (anything with a `device` string) once this scope is applied."""
        return DeviceSpec()._set(_merge(self._fields, _parse(node_def.device or "")))

    def merge_string(self, device: str) -> str:
        """As calling it, from device string to device string."""
        return _merge_string(self._fields, device)

    def __repr__(self) -> str:
        return f"MergeDevice({_format(self._fields)!r})"


def merge_device(spec: str | DeviceSpec | None) -> MergeDevice:
    """The device function that fills a node's open device fields from `spec`."""
    return _merge_device(spec._fields() if isinstance(spec, DeviceSpec) else _parse(spec or ""))


def canonical_name(device: str | DeviceSpec | None) -> str:
    """The canonical string of a device; `""` for None."""
    if isinstance(device, DeviceSpec):
        return device.to_string()
    return _format(_parse(device or ""))


def spelled(device: str | DeviceSpec) -> str:
    """A device as a node keeps it: a string in its own spelling, once it is known to be one."""
    if isinstance(device, DeviceSpec):
        return device.to_string()
    if not isinstance(device, str):
        raise TypeError(
            f"Expected binary or unicode string, got {device!r}: a device function returns the "
            "device of an op, '' for any"
        )
    _parse(device)
    return device


def check_valid(spec: str | None) -> None:
    """Raises ValueError if a device string cannot be parsed."""
    _parse(spec or "")


# Every node of a graph passes through here, and a program names few devices; the bound is for
# graphs from elsewhere, which may name any number.
_remember = lru_cache(maxsize=4096)


@_remember
def _merge_device(fields: _Fields) -> MergeDevice:
    return MergeDevice(fields)


@_remember
def _merge_string(under: _Fields, device: str) -> str:
    return _format(_merge(under, _parse(device)))


@_remember
def _parse(spec: str) -> _Fields:
    job: str | None = None
    replica = task = device_index = None
    device_type: str | None = None
    for part in spec.split("/"):
        match part.split(":"):
            case [""]:
                continue
            case ["job", name]:
                job = name
            case ["replica", number]:
                replica = _integer(number, part, spec)
            case ["task", number]:
                task = _integer(number, part, spec)
            case ["device", kind, index]:
                _require_first_type(device_type, spec)
                device_type = _canonical_type(kind)
                device_index = None if index == "*" else _integer(index, part, spec)
            case [kind, *index] if kind.upper() in _SHORT_FORM_TYPES and len(index) <= 1:
                _require_first_type(device_type, spec)
                device_type = kind.upper()
                device_index = None if index in ([], ["*"]) else _integer(index[0], part, spec)
            case [attribute, *_]:
                raise ValueError(
                    f"Unknown attribute: '{attribute}' in '{spec}'. A device looks like "
                    "'/job:ps/replica:0/task:0/device:GPU:0'."
                )
    return job, replica, task, device_type, device_index


def _require_first_type(device_type: str | None, spec: str) -> None:
    if device_type is not None:
        raise ValueError(f"Cannot specify multiple device types: {spec}")


def _integer(digits: str, part: str, spec: str) -> int:
    try:
        return int(digits)
    except ValueError:
        raise ValueError(
            f"'{part}' needs an integer, got '{digits}', while parsing the device spec: '{spec}'."
        ) from None


def _canonical_type(device_type: str) -> str:
    # Only these two, and only in lower case, are older spellings of a type's name.
    return device_type.upper() if device_type in ("cpu", "gpu") else device_type


def _merge(under: _Fields, over: _Fields) -> _Fields:
    return (
        under[0] if over[0] is None else over[0],
        under[1] if over[1] is None else over[1],
        under[2] if over[2] is None else over[2],
        under[3] if over[3] is None else over[3],
        under[4] if over[4] is None else over[4],
    )


@_remember
def _format(fields: _Fields) -> str:
    job, replica, task, device_type, device_index = fields
    parts = []
    if job is not None:
        parts.append(f"/job:{job}")
    if replica is not None:
        parts.append(f"/replica:{replica}")
    if task is not None:
        parts.append(f"/task:{task}")
    if device_type is not None:
        parts.append(f"/device:{device_type}:{'*' if device_index is None else device_index}")
    return "".join(parts)


DeviceSpecV1 = DeviceSpec  # its name inside TensorFlow
