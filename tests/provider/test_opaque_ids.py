"""A template's numeric ID, which Google assigns, may have any form."""

from __future__ import annotations

from values.programs import TEMPLATE, template


def test_a_template_may_have_any_numeric_id(engine, cloud):
    created = engine.create(TEMPLATE, "web", {"name": "web", **template()})
    cloud.change(created.id, lambda body: body.update(id="x-7"))
    taken = engine.import_(TEMPLATE, "web", f"{created.id}?uniqueId=x-7")

    assert taken.outputs["numericId"] == "x-7"
    engine.delete(created)
    assert cloud.get(created.id) is not None, "another template has taken the name"
    engine.delete(taken)
    assert cloud.get(created.id) is None
