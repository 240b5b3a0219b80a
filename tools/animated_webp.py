"""Puts pictures in the format WebP one after the other into an animated one.

Source: https://developers.google.com/speed/webp/docs/riff_container
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

_ANIMATION: Final = 0x02
"""The flag of a file with an animation."""
_OPAQUE: Final = 0x02
"""The flag of a frame that replaces what is below it."""
_HEAD: Final = 12


def animated(frames: Sequence[tuple[bytes, int]], width: int, height: int) -> bytes:
    """Return the animation, which begins again after its end.

    Each of the `frames` is a file in the format WebP and the milliseconds that it is shown.
    """
    size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    chunks = [_chunk(b"VP8X", bytes((_ANIMATION, 0, 0, 0)) + size), _chunk(b"ANIM", bytes(6))]
    for file, milliseconds in frames:
        image = b"".join(_chunk(kind, data) for kind, data in _chunks(file) if kind in {b"VP8 ", b"VP8L"})
        chunks.append(_chunk(b"ANMF", bytes(6) + size + milliseconds.to_bytes(3, "little") + bytes((_OPAQUE,)) + image))
    return _chunk(b"RIFF", b"WEBP" + b"".join(chunks))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return kind + len(data).to_bytes(4, "little") + data + bytes(len(data) % 2)


def _chunks(file: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the kind and the data of every chunk of a file."""
    at = _HEAD
    while at < len(file):
        end = at + 8 + int.from_bytes(file[at + 4 : at + 8], "little")
        yield file[at : at + 4], file[at + 8 : end]
        at = end + end % 2
