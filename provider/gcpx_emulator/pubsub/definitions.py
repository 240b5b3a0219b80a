"""Definitions of schemas, in Avro or as Protocol Buffers, and the messages that match them.

The libraries that read them load at the first need; without them, schemas are refused.
"""

from __future__ import annotations

import functools
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Protocol

import attrs

from gcpx_emulator.core.errors import ApiError

AVRO: Final = "AVRO"
PROTOCOL_BUFFER: Final = "PROTOCOL_BUFFER"
JSON: Final = "JSON"
_LIBRARIES: Final = {AVRO: ("fastavro",), PROTOCOL_BUFFER: ("google.protobuf", "grpc_tools")}
_LONGEST: Final = 300 * 1024
"""The largest definition in bytes. Source: "Quotas and limits for schemas" in the documentation of Pub/Sub."""
_PATIENCE: Final = 60
"""The seconds that the compiler of Protocol Buffers may take."""


class Definition(Protocol):
    """A definition that was read."""

    def problem(self, data: bytes, encoding: str) -> str | None:
        """Say why a message in this encoding, `JSON` or `BINARY`, does not match; None if it does."""
        ...


def read_definition(kind: str, text: str) -> Definition:
    """Read a definition of a kind, `AVRO` or `PROTOCOL_BUFFER`.

    Raises:
        ApiError: 400 for a wrong definition, 501 without the libraries.
    """
    if kind not in _LIBRARIES:
        raise ApiError(400, f"The type of a schema must be {AVRO} or {PROTOCOL_BUFFER}.")
    if not 0 < len(text.encode(errors="backslashreplace")) <= _LONGEST:
        raise ApiError(400, f"The definition of a schema must have 1 to {_LONGEST:,} bytes.")
    if not all(map(_is_installed, _LIBRARIES[kind])):
        raise ApiError(501, f"{kind} schemas need more packages: pip install 'gcpx-emulator[schemas]'")
    return _read(kind, text)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of the package around it
        return False


@functools.lru_cache(maxsize=64)
def _read(kind: str, text: str) -> Definition:
    return _avro(text) if kind == AVRO else _protocol_buffer(text)


def _wrong(why: str) -> ApiError:
    return ApiError(400, f"Invalid schema definition: {why}")


def _avro(text: str) -> Definition:
    from fastavro.schema import parse_schema  # noqa: PLC0415 - few emulators have schemas

    try:
        return _Avro(parse_schema(_checked(json.loads(text))))
    except Exception as error:  # noqa: BLE001 - the library raises errors of any type for what is malformed
        raise _wrong(f"it is not an Avro schema ({type(error).__name__}: {error}).") from None


def _checked(schema: Any) -> Any:
    """Check what the library does not: the kind of the schema, and the fields of its records."""
    if not isinstance(schema, dict):
        raise TypeError("it must be a JSON object")
    for record in _records(schema):
        names = [field["name"] for field in record["fields"]]
        if len(set(names)) < len(names):
            raise ValueError("the fields of a record must have different names")
    return schema


def _records(schema: Any) -> Iterator[Any]:
    """Yield the records in an Avro schema."""
    for part in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(part, dict | list):
            yield from _records(part)
    if isinstance(schema, dict) and schema.get("type") in ("record", "error"):
        yield schema


@attrs.frozen
class _Avro:
    schema: Any

    def problem(self, data: bytes, encoding: str) -> str | None:
        try:
            return self._json(data) if encoding == JSON else self._binary(data)
        except Exception:  # noqa: BLE001 - the library raises errors of any type for what does not match
            return "The data does not match the schema."

    def _binary(self, data: bytes) -> str | None:
        from fastavro import schemaless_reader  # noqa: PLC0415 - see above

        stream = io.BytesIO(data)
        schemaless_reader(stream, self.schema, None)
        return None if stream.tell() == len(data) else "Too much data to parse for schema."

    def _json(self, data: bytes) -> str | None:
        """Read a message, and write it again: the library does not refuse names that it does not know."""
        from fastavro import json_reader, json_writer, validate  # noqa: PLC0415 - see above

        given = json.loads(data)
        (message,) = json_reader(io.StringIO(json.dumps(given)), self.schema)
        validate(message, self.schema)
        again = io.StringIO()
        json_writer(again, self.schema, [message])
        return None if json.loads(again.getvalue()) == given else "The fields are not those of the schema."


def _protocol_buffer(text: str) -> Definition:
    from google.protobuf.descriptor_pb2 import FileDescriptorSet  # noqa: PLC0415 - few emulators have schemas
    from google.protobuf.message_factory import GetMessages  # noqa: PLC0415

    (file,) = FileDescriptorSet.FromString(_compiled(text)).file
    if file.dependency:
        raise _wrong("it must not import other files.")
    if len(file.message_type) != 1 or file.enum_type:
        raise _wrong("there must be one message at the top level, which may contain others.")
    name = f"{file.package}.{file.message_type[0].name}".removeprefix(".")
    return _ProtocolBuffer(GetMessages([file])[name])


def _compiled(text: str) -> bytes:
    """Compile a definition in a process of its own, whose errors say what is wrong; return the set of descriptors."""
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder) / "schema.proto", Path(folder) / "compiled"
        source.write_text(text, encoding="utf-8", errors="backslashreplace")
        command = [
            sys.executable,
            "-m",
            "grpc_tools.protoc",
            f"-I{folder}",
            f"--descriptor_set_out={result}",
            source.name,
        ]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=_PATIENCE, cwd=folder)  # noqa: S603 - the command is ours
        if done.returncode:
            problems = [line.partition(f"{source.name}:")[2] for line in done.stderr.splitlines()]
            raise _wrong(f"{'; '.join(filter(None, problems)).rstrip('.')}.")
        return result.read_bytes()


@attrs.frozen
class _ProtocolBuffer:
    kind: Any

    def problem(self, data: bytes, encoding: str) -> str | None:
        from google.protobuf.json_format import Parse, ParseError  # noqa: PLC0415 - see above
        from google.protobuf.message import DecodeError  # noqa: PLC0415

        try:
            if encoding == JSON:
                Parse(data, self.kind())
            else:
                self.kind.FromString(data)
        except (ParseError, DecodeError, ValueError):
            return "The data does not match the schema."
        return None
