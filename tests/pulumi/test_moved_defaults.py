"""Under the real CLI, a replacement that follows the provider to another project is shown, and nothing else moves."""

from __future__ import annotations

import pytest
from values.programs import PROJECT, TEMPLATE, template

pytestmark = pytest.mark.pulumi

OTHER = {"GOOGLE_PROJECT": "other-project"}


def _write(stack, **more):
    web = {"type": TEMPLATE, "properties": {"name": "web", **template(), **more}}
    stack.write(web=web)


def test_a_replacement_in_another_project_is_shown(stack, cloud):
    _write(stack)
    stack.up()
    stack.workspace.run("preview", "--expect-no-changes", variables=OTHER)
    _write(stack, description="new")
    done = stack.workspace.run("preview", "--diff", variables=OTHER)

    assert f'- project    : "{PROJECT}"' in done.stdout
    assert "the replacement is created with project: other-project" in done.stdout + done.stderr
    stack.up(variables=OTHER)
    exist = [cloud.get(f"projects/{project}/global/instanceTemplates/web") for project in (PROJECT, "other-project")]
    assert (exist[0], exist[1]["description"]) == (None, "new")
