"""Strategies for the parts of valid inputs: names, labels, metadata and arbitrary texts, with secrets among them."""

from __future__ import annotations

from engines.driver import secret
from hypothesis import strategies as st
from values.programs import MARKER

HIDDEN = "hunter2-Grüße"
"""The secret in these inputs; no other value contains it."""
SECRET_METADATA = {"metadata": {"items": [{"key": "token", "value": secret(MARKER)}]}}
"""A property of templates and instances that contains a secret."""
words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
secret_words = words | st.just(HIDDEN).map(secret)
labels = st.dictionaries(
    st.from_regex(r"[a-z][a-z0-9_-]{0,8}", fullmatch=True),
    st.from_regex(r"[a-z0-9_-]{0,8}", fullmatch=True),
    max_size=3,
)
metadata = st.lists(
    st.fixed_dictionaries({"key": st.from_regex(r"[a-zA-Z0-9_-]{1,8}", fullmatch=True), "value": secret_words}),
    max_size=3,
    unique_by=lambda item: item["key"],
).map(lambda items: {"items": items})
names = st.from_regex(r"[a-z]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)
