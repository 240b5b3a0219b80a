"""What leaked once stays masked: each way in which a message or a state showed a secret, or a part of one.

Holds SECURITY.md: "They are masked even if".
"""

from __future__ import annotations

import base64
import html
import json
import re
import sys
from urllib.parse import quote, quote_plus

import pytest
from engines import driver
from engines.driver import failing, rpc, secret, struct
from secret_values.planted_secrets import without_secrets
from values.programs import ATTACHMENT, IMAGE, PROJECT, TEMPLATE, attachment, image, template

from gcpx.model.redaction import redact

HIDDEN = "mQ7xV9tZ3Lp0Wd2K"
INSERT = "compute.instanceTemplates.insert"


def _quoted(engine, cloud, inputs, **fault):
    """Create a template while Google refuses it; return the error."""
    cloud.fail(INSERT, **{"status": 400, **fault})
    with failing() as failed:
        engine.create(TEMPLATE, "web", inputs)
    return failed[0].message


def _with_metadata(value):
    return template(metadata={"items": [{"key": "token", "value": value}]})


def test_a_cut_response_leaves_no_half_of_a_secret(engine, cloud):
    for length in range(285, 300):
        said = _quoted(engine, cloud, _with_metadata(secret(HIDDEN)), body=f"{'x' * length}{HIDDEN} is not valid")
        assert HIDDEN[:4] not in said


@pytest.mark.parametrize("mark", ["...", "…"])
def test_the_beginning_of_a_secret_that_google_cut_is_masked(engine, cloud, mark):
    said = _quoted(engine, cloud, _with_metadata(secret(HIDDEN)), message=f"Invalid value: '{HIDDEN[:9]}{mark}'")

    assert f"Invalid value: '[secret]{mark}'" in said


GREEK = "\N{GREEK CAPITAL LETTER OMICRON}\N{GREEK CAPITAL LETTER DELTA}\N{GREEK CAPITAL LETTER OMICRON}\N{GREEK CAPITAL LETTER SIGMA}"


@pytest.mark.parametrize("hidden", [HIDDEN, GREEK, GREEK.lower()])
@pytest.mark.parametrize("spell", [str.upper, str.lower, str.swapcase, lambda text: quote(text.lower(), safe="")])
@pytest.mark.parametrize("around", ["'{}'", "{}s", "\N{LATIN CAPITAL LETTER I WITH DOT ABOVE} {}."])
def test_a_secret_is_masked_with_letters_of_the_other_case(hidden, spell, around):
    assert redact(around.format(spell(hidden)), frozenset({hidden})) == around.format("[secret]")


def test_a_secret_in_base64_is_masked(engine, cloud):
    text = base64.b64encode(HIDDEN.encode()).decode()

    assert text.rstrip("=") not in _quoted(engine, cloud, _with_metadata(secret(HIDDEN)), message=f"bad: {text}")


ESCAPED = {
    "as it is": lambda text: text,
    "JSON": json.dumps,
    "JSON for HTML": lambda text: (
        json.dumps(text).replace("&", "\\u0026").replace("<", "\\u003c").replace("=", "\\u003D")
    ),
    "JSON in JSON": lambda text: json.dumps(json.dumps(text)),
    "JSON in JSON for HTML": lambda text: json.dumps(json.dumps(text).replace("&", "\\u0026")),
    "JSON in upper case": lambda text: "".join(
        letter
        if letter.isalnum() and letter.isascii()
        else re.sub("(....)", r"\\u\1", letter.encode("utf-16-be").hex().upper())
        for letter in text
    ),
    "HTML": html.escape,
    "HTML with numbers": lambda text: "".join(letter if letter.isalnum() else f"&#{ord(letter)};" for letter in text),
    "HTML in HTML": lambda text: html.escape(html.escape(text)),
    "HTML in JSON for HTML": lambda text: json.dumps(html.escape(text)).replace("&", "\\u0026"),
    "URL": lambda text: quote(text, safe=""),
    "URL in URL": lambda text: quote(re.sub("%..", lambda found: found[0].lower(), quote(text, safe="")), safe=""),
    "URL in JSON": lambda text: json.dumps({"url": quote(text, safe="&=")}).replace("&", "\\u0026"),
    "repr": repr,
    "repr in ASCII": ascii,
    "repr in ASCII in JSON": lambda text: json.dumps(ascii(text)),
    "repr of bytes": lambda text: repr(text.encode()),
    "repr of bytes in JSON": lambda text: json.dumps(repr(text.encode())),
    "octal": lambda text: "".join(
        chr(byte) if chr(byte).isalnum() and byte < 128 else f"\\{byte:03o}" for byte in text.encode()
    ),
}
"""How a message may escape a value."""


HARD = [
    "mQ7x%26V9tZ3&Lp0W=d2K",
    "mQ7x%41V9tZ3",
    "mQ7xéV9tZ3üLp0W",
    "mQ7x%C3%A9é&V9tZ3",
    "mQ7x\\u0026V9tZ3&%2",
    "mQ7x🙂V9%tZ3",
    "mQ7x\\123V9tZ3&",
    "mQ7x'V9\"tZ3<",
    "mQ7x\x1b[1mV9\x80tZ3",
]
"""Secrets with parts that are escaped, or look so."""


@pytest.mark.parametrize("spelled", ESCAPED)
@pytest.mark.parametrize("hidden", HARD)
def test_a_secret_that_looks_escaped_is_masked_however_it_is_escaped(spelled, hidden):
    said = redact(f"bad value: {ESCAPED[spelled](hidden)}.", frozenset({hidden}))

    assert "mQ7x" not in said
    assert "V9" not in said


@pytest.mark.parametrize("mark", ["...", "…", "\\u2026", "... (81,234 characters)"])
@pytest.mark.parametrize("spelled", ESCAPED)
@pytest.mark.parametrize("hidden", HARD)
def test_a_secret_is_masked_wherever_it_is_cut(spelled, hidden, mark):
    text = ESCAPED[spelled](hidden)
    said = {cut: redact(f"bad value: {text[:cut]}{mark}", frozenset({hidden})) for cut in range(len(text) + 1)}

    assert {cut: shown for cut, shown in said.items() if "mQ7x" in shown or "V9" in shown} == {}


def test_base64_is_masked_where_an_escape_of_its_end_is_cut():
    hidden = "1234567890123456789012"
    text = base64.b64encode(hidden.encode()).decode().replace("=", "\\u003d")

    for cut in range(20, len(text)):
        assert redact(f"'{text[:cut]}...'", frozenset({hidden})).startswith("'[secret]")


def test_a_secret_with_a_percent_escape_is_masked_where_google_escapes_it(engine, cloud):
    said = _quoted(engine, cloud, _with_metadata(secret("mQ7x%26V9tZ3&Lp0W")), message=r"bad: 'mQ7x%26V9tZ3\u0026Lp0W'")

    assert "mQ7x" not in said
    assert "Lp0W" not in said


class _Searched(str):
    """A message that remembers what it is searched for, and which of its parts are read."""

    __slots__ = ("parts", "searches")

    def __init__(self, _text):
        self.searches, self.parts = [], []

    def find(self, *given):
        self.searches.append(given)
        return super().find(*given)

    def __getitem__(self, part):
        self.parts.append(part)
        return super().__getitem__(part)


def test_a_message_is_not_searched_for_each_line_of_a_long_secret():
    script = "".join(f"curl --silent https://example.com/{number} > /dev/null\n" for number in range(4000))
    said = _Searched("Invalid value for field 'resource.name': 'web'.")

    assert redact(said, frozenset({script})) == said
    assert len(said.searches) < 10


def test_a_message_that_is_cut_is_not_read_for_each_secret():
    said = _Searched("Invalid value for field 'resource.name': " * 50 + "...")
    few, many = (frozenset(f"Inva{number}-{HIDDEN}"[: 16 + number % 9] for number in range(size)) for size in (1, 100))

    assert redact(said, few) == said
    once = len(said.parts)
    assert redact(said, many) == said
    assert len(said.parts) < 5 * once


def test_each_long_line_of_a_secret_is_masked(engine, cloud):
    script = f"#!/bin/sh\ncurl -H {HIDDEN} https://example.com\ndone\n"
    said = _quoted(
        engine, cloud, _with_metadata(secret(script)), message=f"line 2: curl -H {HIDDEN} https://example.com"
    )

    assert "line 2: [secret]" in said


def test_overlapping_secrets_leave_no_part(engine, cloud):
    items = [{"key": "a", "value": secret(HIDDEN[:10])}, {"key": "b", "value": secret(HIDDEN[6:])}]
    said = _quoted(engine, cloud, template(metadata={"items": items}), message=f"bad: {HIDDEN}.")

    assert "bad: [secret]. (HTTP 400" in said


def test_a_word_of_the_mask_itself_can_be_a_secret(engine, cloud):
    items = [{"key": "a", "value": secret("secret")}, {"key": "b", "value": secret(HIDDEN)}]
    said = _quoted(engine, cloud, template(metadata={"items": items}), message=f"bad: {HIDDEN}, secret")

    assert "bad: [secret], [secret]" in said


def test_a_short_secret_is_masked_between_quotes(engine, cloud):
    said = _quoted(engine, cloud, _with_metadata(secret("abc")), message="Invalid value 'abc' in abcdef")

    assert "Invalid value '[secret]' in abcdef" in said


@pytest.mark.parametrize("spelled", ["65536", "65,536"])
def test_a_secret_number_is_masked(engine, cloud, spelled):
    disk = {"boot": True, "initializeParams": {"sourceImage": "family/debian-12", "diskSizeGb": secret(65536)}}
    said = _quoted(engine, cloud, template(disks=[disk]), message=f"{spelled} GB is too much")

    assert "[secret] GB is too much" in said


def test_an_access_token_that_a_server_echoes_is_masked(engine, cloud):
    said = _quoted(
        engine, cloud, template(), message=f"rejected: Authorization: Bearer {HIDDEN}{HIDDEN}, ya29.{HIDDEN}"
    )

    assert HIDDEN not in said


def test_a_key_of_a_secret_map_is_masked_in_errors_and_failures(engine, cloud):
    labels = secret({"mq7xv9tz3": "yes"})
    said = _quoted(engine, cloud, template(labels=labels), message="the label mq7xv9tz3 is reserved")
    failures = engine.check(TEMPLATE, "web", template(labels=secret({HIDDEN: "yes"}))).failures

    assert "the label [secret] is reserved" in said
    assert "mq7x" not in said
    assert failures
    assert HIDDEN not in str(failures)


def test_a_difference_does_not_name_keys_inside_a_secret(engine):
    made = engine.create(TEMPLATE, "web", template(labels=secret({"mq7xv9tz3": "yes"})))
    changes = engine.diff(made, template(labels=secret({"mq7xv9tz4": "yes"})))

    assert list(changes.detailedDiff) == ["properties.labels"]
    assert changes.detailedDiff["properties.labels"].kind == rpc.PropertyDiff.UPDATE_REPLACE
    assert changes.replaces == ["properties"]


def test_a_map_in_the_outputs_whose_key_shows_a_secret_becomes_secret(engine):
    items = [{"key": "a", "value": secret("mq7xv9tz3")}]
    made = engine.create(TEMPLATE, "web", template(labels={"for-mq7xv9tz3": "x"}, metadata={"items": items}))

    assert made.outputs["properties"]["labels"] == secret({"for-mq7xv9tz3": "x"})


def test_an_online_check_masks_what_is_secret_by_declaration(cloud):
    cloud.make_instance()
    key = base64.b64encode(HIDDEN.encode() * 2).decode()
    with driver.engine(project=PROJECT, zone="us-east1-b", emulatorHost=cloud.host, validateOnline="true") as made:
        cloud.fail("*", times=20, status=403, message=f"not allowed for {key}")
        made.check(IMAGE, "x", image(machineImageEncryptionKey={"rawKey": key}))
    said = [text for *_, text in made.log.messages]

    assert any("not allowed for [secret]" in text for text in said), said


def test_what_was_secret_before_an_update_stays_secret_while_google_returns_it(engine, cloud):
    cloud.make_instance()
    config = {"project": PROJECT, "zone": "us-east1-b", "emulatorHost": cloud.host}
    engine.configure(**config)
    made = engine.create(IMAGE, "disk", image(labels={"owner": secret("mq7xv9tz3")}))
    unchanged = {"kind": "compute#operation", "name": "operation-1", "status": "DONE", "targetLink": "x"}
    cloud.fail("compute.machineImages.setLabels", body=json.dumps(unchanged))
    outputs = engine.update(made, image(labels={"other": "x"})).outputs

    assert "mq7xv9tz3" in str(outputs)
    assert "mq7xv9tz3" not in str(without_secrets(outputs))


def test_an_input_that_is_no_longer_secret_is_shown(engine, vm):
    made = engine.create(ATTACHMENT, "data", attachment(deviceName=secret("data-disk-of-web")))
    done = engine.stub.Update(
        rpc.UpdateRequest(
            id=made.id, urn=made.urn, olds=struct(made.outputs), old_inputs=struct(made.inputs),
            news=struct(attachment(deviceName="data-disk-of-web", autoDelete=True)),
        )
    )  # fmt: skip

    assert driver.plain(done.properties)["deviceName"] == "data-disk-of-web"


PEM = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n-----END PRIVATE KEY-----"
OTHERWISE = {
    "percent": quote,
    "query": quote_plus,
    "JSON": lambda text: text.replace(" ", "\\u0020"),
    "HTML": lambda text: text.replace("-", "&#45;"),
}


@pytest.mark.parametrize("escape", OTHERWISE.values(), ids=OTHERWISE)
@pytest.mark.parametrize("text", [PEM, "=ya29.a0AfH6SMBx7xV9tZ3Lp0Wd2K", "Bearer MIIEvQIBADANBgkqhkiG9w0B"])
def test_what_is_recognized_by_its_form_is_masked_if_it_is_escaped(text, escape):
    said = redact(f"invalid: {escape(text)}", frozenset())

    assert "[secret]" in said
    assert not re.search("MIIE|BEGIN|Wd2K", said)


@pytest.mark.parametrize("before", ["key_", "KEY=", "-", "key-", "("])
@pytest.mark.parametrize(
    "text", ["eyJhbGciOiJ.eyJhdWQiOiJ.c2ln", "ya29.a0AfH6SM", "1//0gq7xV9tZ3Lp0Wd2Kxx", "GOCSPX-q7xV9"]
)
def test_what_is_recognized_by_its_form_is_masked_at_the_end_of_a_word(text, before):
    assert redact(f"invalid: {before}{text}", frozenset()) == f"invalid: {before}[secret]"


@pytest.mark.parametrize(
    "before", ["bearer ", "BEARER ", "Bearer  ", "Bearer\t", "Bearer%20", "bearer%20%20", "Bearer++"]
)
def test_a_bearer_token_is_masked_however_its_header_is_spelled(before):
    assert redact(f"invalid: {before}MIIEvQIBADANBgkqhkiG", frozenset()) == f"invalid: {before}[secret]"


def test_a_bearer_token_is_masked_at_the_end_of_a_word():
    assert redact("invalid: header_Bearer MIIEvQIBADANBgkqhkiG", frozenset()).endswith("header_Bearer [secret]")


def _calls(text, *secrets):
    """Return how many calls it takes to redact a message, which depends on no clock."""
    calls = 0

    def count(_frame, event, _argument):
        nonlocal calls
        calls += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        redact(text, frozenset(secrets))
    finally:
        sys.setprofile(None)
    return calls


OF_ALL_FORMS = "bad: \\u0041 &amp; %41"


def test_a_long_secret_costs_only_the_first_message_more():
    script = "".join(f"echo \\u0041 %41 &amp; é {number}\n" for number in range(500))
    first, second = _calls(OF_ALL_FORMS, script), _calls(OF_ALL_FORMS, script)

    assert first > 10_000
    assert second < 1_000


def test_a_link_of_many_segments_costs_little():
    assert _calls(OF_ALL_FORMS, "/".join(["%41"] * 500)) < 200_000


def test_many_cuts_cost_little():
    assert _calls("…" * 20_000, "…" * 5_000) < 500_000
