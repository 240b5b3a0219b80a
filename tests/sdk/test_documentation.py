"""`help()` and editors show useful documentation of the generated SDK."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
from pathlib import Path

import pulumi_gcpx
from pulumi_gcpx import compute, oauth2, oslogin, pubsub, storage

from gcpx.provider import FUNCTIONS, RESOURCES


def test_every_class_has_a_docstring():
    modules = (pulumi_gcpx, compute, compute.outputs, oauth2, oslogin, pubsub, pubsub.outputs, storage)
    classes = {
        f"{module.__name__}.{name}": found
        for module in modules
        for name, found in vars(module).items()
        if inspect.isclass(found) and found.__module__.startswith("pulumi_gcpx") and not name.startswith("Awaitable")
    }

    assert len(classes) > 2 * len(RESOURCES) + len(FUNCTIONS)
    assert [name for name, found in classes.items() if not (found.__dict__.get("__doc__") or "").strip()] == []


def test_help_shows_a_description_an_example_and_the_import_command():
    words = inspect.getdoc(compute.BulkInstances)

    assert words.startswith("A fleet")
    assert 'gcpx.compute.BulkInstances(\n    "workers"' in words
    assert "pulumi import gcpx:compute:BulkInstances NAME" in words


def test_the_sdk_has_no_examples_in_other_languages():
    texts = [path.read_text() for path in Path(pulumi_gcpx.__file__).parent.rglob("*.py")]

    assert sum(text.count("```python") for text in texts) >= len(RESOURCES) + len(FUNCTIONS)
    assert [
        fence for text in texts for fence in re.findall(r"```\w+", text) if fence not in {"```python", "```sh"}
    ] == []


def test_help_lists_the_inputs_of_a_resource():
    words = inspect.getdoc(compute.BulkInstances.__init__)

    assert ":param pulumi.Input[int] count: The number of instances" in words
    assert " fallbacks: What to try" in words


def test_every_key_of_a_dict_has_a_docstring_for_editors():
    tree = ast.parse(inspect.getsource(compute._inputs))
    kinds = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name.endswith("ArgsDict")]
    keys = [
        (f"{kind.name}.{item.target.id}", after)
        for kind in kinds
        for item, after in itertools.pairwise([*kind.body, None])
        if isinstance(item, ast.AnnAssign)
    ]

    assert len(kinds) > 20
    assert [name for name, after in keys if not (isinstance(after, ast.Expr) and after.value.value.strip())] == []


def test_every_property_and_parameter_of_a_class_has_a_docstring():
    kinds = [kind for name, kind in vars(compute).items() if inspect.isclass(kind) and name.endswith("Args")]
    properties = {
        f"{kind.__name__}.{name}": (found, inspect.getdoc(kind.__init__))
        for kind in kinds
        for name, found in vars(kind).items()
        if isinstance(found, property)
    }

    assert len(properties) > 100
    assert [name for name, (found, _) in properties.items() if not (found.__doc__ or "").strip()] == []
    assert [name for name, (_, words) in properties.items() if f" {name.partition('.')[2]}: " not in words] == []


def test_the_stub_of_the_settings_has_the_names_that_the_module_has():
    stub = ast.parse(Path(pulumi_gcpx.config.__file__).with_suffix(".pyi").read_text())
    names = {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}

    assert len(names) > 10
    assert [name for name in names if not hasattr(pulumi_gcpx.config, name)] == []
