"""A call of an unknown function is refused; the tests of each function are in the folder of its service."""

from __future__ import annotations

from engines.driver import failing


def test_the_error_for_an_unknown_function_lists_the_functions(engine):
    with failing() as failures:
        engine.invoke("gcpx:compute:listEverything")

    assert "gcpx:compute:listRegions" in failures[0].message
