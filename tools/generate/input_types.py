"""Corrects input types in the Python SDK, where Pulumi's generator writes too loose, too strict or wrong ones.

Too loose: the constructors of resources and the functions accept calls without required inputs. Too strict: an input
class accepts no dict in it, and a dict no class, although both work. Wrong: the stub of the settings has the names of
the schema, such as `accessToken`, although the module has `access_token`. Without a type checker, a list in place of an
object ends the program with a traceback of Pulumi's SDK; `python_forms` explains the mistake instead.
"""

from __future__ import annotations

import ast
import pprint
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from generate import python_forms
from generate.schema_types import Json

Required = dict[str, set[str]]
"""The Python names of required inputs, by module and class or function, such as `compute.get_operation`."""
_FORM: Final = re.compile(r"'(\w+Args)(?:Dict)?'")
"""The name of an input class, or of its TypedDict."""
_CREATION: Final = re.compile(
    r"(            __props__\.__dict__\[[^\n]*)"
    r"((?:\n        (?! |super)[^\n]*)*\n        super\(\w+, __self__\)\.__init__\(\n            )('gcpx:\w+:\w+')"
)
"""The end of a constructor's code for the inputs of a new resource, with the resource's token."""


def correct_input_types(folder: Path, package: Json) -> None:
    """Correct the types of inputs in the SDK below a folder, which was generated from the schema `package`."""
    required = _required(package)
    for path in sorted(folder.rglob("*.py")):
        source = path.read_text()
        corrected = _with_both_forms(_with_required(source, path.parent.name, required))
        if corrected != source:
            path.write_text(corrected)
    for stub in folder.rglob("config/__init__.pyi"):
        stub.write_text(_with_python_names(stub.read_text()))


def require_forms(folder: Path, package: Json) -> None:
    """Let the constructors of resources refuse lists in place of objects, which the SDK cannot send."""
    forms: dict[str, dict[str, python_forms.Form]] = {}
    for token, described in package["resources"].items():
        forms[token] = _forms_of(described["inputProperties"], package, forms)
    filled = pprint.pformat(forms, width=120, sort_dicts=True)
    source, empty = Path(python_forms.__file__).read_text(), "FORMS: dict[str, dict[str, Form]] = {}"
    (root,) = (path.parent for path in folder.rglob("_utilities.py"))
    (root / "_forms.py").write_text(source.replace(empty, empty.replace("{}", filled)))
    for path in sorted(folder.rglob("*.py")):
        source = path.read_text()
        checked = _CREATION.sub(
            r"\1\n            _forms.require_forms(\3, resource_name, __props__.__dict__)\2\3", source
        )
        if checked != source:
            path.write_text(
                checked.replace("from .. import _utilities\n", "from .. import _forms\nfrom .. import _utilities\n")
            )


def _forms_of(
    properties: Json, package: Json, forms: dict[str, dict[str, python_forms.Form]]
) -> dict[str, python_forms.Form]:
    """Return the forms of properties, and add those of the objects in them to `forms`."""
    return {_snake_case(name): _form_of(spec, package, forms) for name, spec in properties.items()}


def _form_of(spec: Json, package: Json, forms: dict[str, dict[str, python_forms.Form]]) -> python_forms.Form:
    if spec.get("type") == "array":
        return [_form_of(spec["items"], package, forms)]
    if "additionalProperties" in spec:
        return {"": _form_of(spec["additionalProperties"], package, forms)}
    token = spec.get("$ref", "").removeprefix("#/types/")
    described = package["types"].get(token, {})
    if "properties" not in described:
        return None
    name = token.rpartition(":")[2]
    if name not in forms:
        forms[name] = {}
        forms[name].update(_forms_of(described["properties"], package, forms))
    return str(name)


def _required(package: Json) -> Required:
    resources = {token: described["requiredInputs"] for token, described in package["resources"].items()}
    functions = {token: described["inputs"]["required"] for token, described in package["functions"].items()}
    found = {}
    for token, names in {**resources, **functions}.items():
        _, module, name = token.split(":")
        found[f"{module}.{name if token in resources else _snake_case(name)}"] = set(map(_snake_case, names))
    return found


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _with_required(source: str, module: str, required: Required) -> str:
    lines = source.split("\n")
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            _require(lines, node.args, required.get(f"{module}.{node.name.removesuffix('_output')}", set()))
        elif isinstance(node, ast.ClassDef) and f"{module}.{node.name}" in required:
            # The first of the overloads takes the inputs as keyword arguments.
            _require(lines, next(_constructors(node)).args, required[f"{module}.{node.name}"])
    return "\n".join(lines)


def _require(lines: list[str], arguments: ast.arguments, names: set[str]) -> None:
    """Remove the default and `Optional` of the parameters with these names, in the lines of their declaration.

    Those after an optional parameter can be set by keyword only, because Python demands it.
    """
    optional_before = starred = False
    without_default = len(arguments.args) - len(arguments.defaults)
    for item, default in zip(arguments.args[without_default:], arguments.defaults, strict=True):
        if item.arg not in names:
            optional_before = True
            continue
        star = "*, " if optional_before and not starred else ""
        starred = starred or optional_before
        line = lines[item.lineno - 1]
        declared = f"{star}{item.arg}: {_without_optional(item)}"
        lines[item.lineno - 1] = f"{line[: item.col_offset]}{declared}{line[default.end_col_offset :]}"


def _without_optional(parameter: ast.arg) -> str:
    """Return the type of a parameter without its `Optional`: `Input[str]` for `Input[Optional[str]]`."""
    declared = ast.unparse(parameter.annotation) if parameter.annotation else ""
    outside, _, inside = declared.partition("Optional[")
    around = outside.count("[")
    return f"{outside}{inside[: -around - 1]}{']' * around}"


def _with_both_forms(source: str) -> str:
    """Let every input class accept nested dicts, and every TypedDict accept classes."""
    lines = source.split("\n")
    for node in ast.parse(source).body:
        for annotation in _nested_inputs(node):
            line = lines[annotation.lineno - 1]
            lines[annotation.lineno - 1] = _FORM.sub(r"Union['\1', '\1Dict']", line)
    return "\n".join(lines)


def _nested_inputs(node: ast.stmt) -> Iterator[ast.expr]:
    """Yield the types in an input class or TypedDict, each from its own line."""
    if not isinstance(node, ast.ClassDef):
        return
    if [ast.unparse(base) for base in node.bases] == ["TypedDict"]:
        yield from (item.annotation for item in node.body if isinstance(item, ast.AnnAssign))
    elif [ast.unparse(decorator) for decorator in node.decorator_list] == ["pulumi.input_type"]:
        for constructor in _constructors(node):
            yield from (item.annotation for item in constructor.args.kwonlyargs if item.annotation)


def _with_python_names(stub: str) -> str:
    lines = stub.split("\n")
    for node in ast.parse(stub).body:
        if isinstance(node, ast.AnnAssign):
            line, name = lines[node.lineno - 1], ast.unparse(node.target)
            lines[node.lineno - 1] = f"{_snake_case(name)}{line.removeprefix(name)}"
    return "\n".join(lines)


def _constructors(node: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    return (item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__")
