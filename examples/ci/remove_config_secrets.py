"""Replace the secrets in a stack's configuration, so that a preview needs no key of the stack's secrets provider.

    python remove_config_secrets.py Pulumi.prod.yaml

Each secret becomes the text "removed", and the file no longer names a secrets provider. A stack without configuration
has no such file; then there is nothing to do. PyYAML comes with `pulumi`.
"""

import argparse
import io
import sys
from pathlib import Path

import yaml  # type: ignore[import-untyped]  # it has no types of its own

PROVIDER_KEYS = ("encryptionsalt", "encryptedkey", "secretsprovider")
TEXT = "tag:yaml.org,2002:str"
NO_FOLD = sys.maxsize


def is_secret(node: yaml.Node) -> bool:
    """Say whether Pulumi reads a value as a secret: its only key is `secure`, with a text."""
    if not isinstance(node, yaml.MappingNode) or len(node.value) != 1:
        return False
    ((key, value),) = node.value
    return bool(key.value == "secure" and value.tag == TEXT)


def without_secrets(node: yaml.Node) -> yaml.Node:
    """Replace the secrets in a value; all other values keep the form in which they are written."""
    if is_secret(node):
        return yaml.ScalarNode(TEXT, "removed")
    if isinstance(node, yaml.MappingNode):
        node.value = [(key, without_secrets(value)) for key, value in node.value]
    elif isinstance(node, yaml.SequenceNode):
        node.value = [without_secrets(value) for value in node.value]
    return node


def convert(settings: bytes) -> str:
    """Return the settings of a stack without secrets and without their provider."""
    root = yaml.SafeLoader(settings).get_single_node()
    if not isinstance(root, yaml.MappingNode):
        return settings.decode()
    root.value = [(key, value) for key, value in root.value if key.value not in PROVIDER_KEYS]
    written = io.StringIO()
    dumper = yaml.SafeDumper(written, allow_unicode=True, width=NO_FOLD)
    dumper.open()
    dumper.serialize(without_secrets(root))
    dumper.close()
    return written.getvalue()


def main() -> None:
    """Convert the file that is named on the command line, if it exists."""
    parser = argparse.ArgumentParser(description="Replace the secrets in a stack's configuration by a text.")
    parser.add_argument("file", type=Path, help="the configuration, such as Pulumi.prod.yaml; it is overwritten")
    file = parser.parse_args().file
    if not file.exists():
        return
    try:
        converted = convert(file.read_bytes())
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        sys.exit(f"remove_config_secrets.py: {file} is not valid YAML: {' '.join(str(error).split())}")
    file.write_text(converted, encoding="utf-8")


if __name__ == "__main__":
    main()
