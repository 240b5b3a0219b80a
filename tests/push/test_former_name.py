"""`gcpx.push`, the former name of the library, which programs may still import."""

from __future__ import annotations

import gcpx.push
import gcpx_push


def test_the_former_name_has_the_same_objects():
    assert set(gcpx.push.__all__) == set(gcpx_push.__all__)
    for name in gcpx_push.__all__:
        assert getattr(gcpx.push, name) is getattr(gcpx_push, name), name
