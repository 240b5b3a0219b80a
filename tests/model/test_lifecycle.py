"""The model decides what a change, a preview, a refresh and an import mean for a resource."""

from __future__ import annotations

import pytest

from gcpx.model import lifecycle
from gcpx.model.fields import Record, field, record
from gcpx.model.links import Location, name_of
from gcpx.model.naming import AUTONAMED, IMPORTED, UNREAD, Autoname, NameRequest, Proposal, name_inputs
from gcpx.model.patterns import REGION
from gcpx.model.resource import Page, Resource, State
from gcpx.model.state import without_absent
from gcpx.model.values import UNKNOWN, Secret

UNSET = object()


@record
class ShelfLight(Record):
    """An object to which the server adds a property."""

    color: str = field("The colour.")
    serial: str = field("The serial number.", output=True)


@record
class ShelfModel(Record):
    """A resource with one property of each kind."""

    name: str = field("The name.", always=True)
    region: str = field("The region.", in_url=True, pattern=REGION, normalize=name_of)
    wood: str = field("The wood.", default="oak")
    boards: int = field("How many boards.")
    labels: dict[str, str] = field("Labels.")
    light: ShelfLight = field("The light.")
    varnish: str = field("Chosen by the server if it is not set.", computed=True)
    key: str = field("Taken and never returned.", write_only=True)
    numeric_id: str = field("The number.", output=True)
    books: int = field("The number of books now.", output=True, volatile=True)


class Shelf(Resource):
    """A resource that declares what changes in place, its identity and its location; its verbs are never called."""

    token = "gcpx:furniture:Shelf"
    model = ShelfModel
    query = ShelfModel
    id_forms = ("NAME",)
    autoname = Autoname(property="name", max_length=20)
    in_place = frozenset({("boards",), ("light", "color")})
    left_out_of_imports = frozenset({"wood"})

    def __init__(self) -> None:
        """Create the resource without a client."""

    def location(self, inputs, outputs):
        return Location.of(inputs, outputs, region="us-east1")

    def unique_key(self, inputs):
        return None if inputs.get(AUTONAMED) is True else inputs.get("name")

    def predict(self, inputs):
        return {"region": inputs.get("region") or "us-east1"}

    def provider_defaults(self):
        return {"region": "us-east1"}

    def create(self, call, inputs):
        raise NotImplementedError

    def read(self, call, resource_id, inputs):
        raise NotImplementedError

    def delete(self, call, resource_id):
        raise NotImplementedError

    def page(self, call, query, token, size):
        return Page([])


SHELF = Shelf()
OLD = {"name": "books", "wood": "pine", "boards": 4, "labels": {"room": "hall"}, "light": {"color": "red"}, "key": "k"}
LIVE = {**OLD, "region": "us-east1", "varnish": "matt", "light": {"color": "red", "serial": "7"}, "numericId": "42"}


def plan(old, outputs=None, **changed):
    new = {name: value for name, value in {**old, **changed}.items() if value is not UNSET}
    return lifecycle.plan(SHELF, old, new, LIVE if outputs is None else outputs)


@pytest.mark.parametrize(
    ("changed", "path", "kind", "replaces"),
    [
        ({"boards": 5}, ("boards",), "update", False),
        ({"boards": UNKNOWN}, ("boards",), "update", False),
        ({"light": {"color": "blue"}}, ("light", "color"), "update", False),
        ({"light": UNSET}, ("light",), "delete", True),
        ({"wood": "ash"}, ("wood",), "update", True),
        ({"wood": UNKNOWN}, ("wood",), "update", True),
        ({"labels": {"room": "loft"}}, ("labels", "room"), "update", True),
        ({"labels": {"room": "hall", "floor": "1"}}, ("labels", "floor"), "add", True),
        ({"region": "us-west1"}, ("region",), "add", True),
        ({"varnish": "gloss"}, ("varnish",), "add", True),
        ({"key": "other"}, ("key",), "update", True),
    ],
)
def test_a_change_replaces_unless_its_path_is_declared_in_place(changed, path, kind, replaces):
    changes = plan(OLD, **changed).changes

    assert [(change.path, change.kind, change.replaces) for change in changes] == [(path, kind, replaces)]


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"boards": "4"},
        {"varnish": "matt"},
        {"region": "us-east1"},
        {"region": "https://www.googleapis.com/compute/v1/projects/p/regions/us-east1"},
    ],
)
def test_equivalent_inputs_are_not_a_change(changed):
    assert plan(OLD, **changed).changes == []


def test_omitting_the_default_region_is_not_a_change():
    assert plan({**OLD, "region": "us-east1"}, region=UNSET).changes == []
    assert [change.path for change in plan({**OLD, "region": "us-west1"}, region=UNSET).changes] == [("region",)]


def test_without_old_inputs_the_outputs_are_compared():
    new = {**OLD, "varnish": "matt"}

    assert lifecycle.plan(SHELF, {}, new, LIVE).changes == []
    assert [change.path for change in lifecycle.plan(SHELF, {}, {**new, "boards": 9}, LIVE).changes] == [("boards",)]
    less = {name: value for name, value in new.items() if name != "labels"}
    assert [change.path for change in lifecycle.plan(SHELF, {}, less, LIVE).changes] == [("labels",)]


@pytest.mark.parametrize("changed", [{"key": "other"}, {"varnish": UNSET}])
def test_after_an_import_values_that_google_does_not_return_replace_nothing(changed):
    old = {**OLD, "varnish": "matt"}

    assert [change.replaces for change in plan(old, **changed).changes] == [True]
    assert plan({**old, IMPORTED: True}, **changed).changes == []
    assert [change.path for change in plan({**old, IMPORTED: True}, wood="ash", **changed).changes] == [("wood",)]


def test_the_old_resource_is_deleted_first_only_if_its_name_is_reused():
    assert plan(OLD, wood="ash").delete_first
    assert plan(OLD, boards=9).delete_first, "replaceOnChanges can make a replacement of it"
    assert plan(OLD).delete_first, "replaceOnChanges can name an unfinished operation"
    assert not plan(OLD, wood="ash", name="other").delete_first
    assert not plan({**OLD, AUTONAMED: True}, wood="ash").delete_first
    assert plan({**OLD, AUTONAMED: True}, wood="ash", **{AUTONAMED: UNSET}).delete_first


def test_the_preview_of_a_creation_predicts_only_what_is_certain():
    predicted = lifecycle.predict(SHELF, {**OLD, AUTONAMED: True}, {})

    assert predicted == {**OLD, "light": UNKNOWN, "region": "us-east1"}


def test_the_preview_of_an_update_keeps_unchanged_outputs():
    predicted = lifecycle.predict(SHELF, OLD, {**LIVE, "books": 3, "numericId": Secret("42"), "gone": "x"})

    assert predicted == {**OLD, "light": UNKNOWN, "region": "us-east1", "varnish": "matt", "numericId": Secret("42")}


LESS = {"name": "books", "boards": 4}
EMPTY = {"labels": {}, "key": "", "wood": "", "varnish": "", "region": "", "numericId": ""}
"""The outputs of a shelf of which nothing else is known."""


def test_outputs_that_a_resource_does_not_have_are_empty_unless_it_was_not_read():
    assert lifecycle.outputs_of(SHELF, State("books", LESS), LESS) == {**LESS, **EMPTY}
    unread = {**LESS, UNREAD: True}
    assert lifecycle.outputs_of(SHELF, State("books", unread), LESS) == unread


def test_outputs_of_the_state_are_read_without_what_the_resource_does_not_have():
    secrets = {**EMPTY, "key": Secret(""), "numericId": UNKNOWN}

    assert without_absent(SHELF.type, {**LESS, **secrets}) == {**LESS, "numericId": UNKNOWN}


def test_a_preview_knows_that_an_input_stays_absent_unless_the_server_may_choose_its_value():
    assert lifecycle.predict(SHELF, LESS, {}) == {**LESS, "labels": {}, "key": "", "region": "us-east1"}


def test_the_preview_of_an_update_knows_what_the_resource_does_not_have_unless_it_was_not_read():
    assert lifecycle.predict(SHELF, OLD, LESS)["numericId"] == ""
    assert "numericId" not in lifecycle.predict(SHELF, OLD, {**LESS, UNREAD: True})


def test_the_preview_of_an_update_knows_what_google_has_chosen_and_the_update_cannot_change():
    prior = {**LESS, "varnish": "matt", "wood": Secret("oak"), "light": {"color": "red", "serial": "7"}}

    assert lifecycle.predict(SHELF, {**LESS, "varnish": "gloss"}, prior)["varnish"] == "gloss"
    predicted = lifecycle.predict(SHELF, LESS, prior)
    assert (predicted["varnish"], predicted["wood"]) == ("matt", Secret("oak"))
    assert "light" not in predicted, "a part of it changes in place"
    assert "varnish" not in lifecycle.predict(SHELF, LESS, {**prior, UNREAD: True})


def test_outputs_keep_the_users_spelling_of_equal_values():
    written = {**OLD, "boards": "4", "region": "regions/us-east1", "wood": "ash", AUTONAMED: True}

    outputs = lifecycle.outputs_of(SHELF, State("books", {**LIVE, "boards": 4}), written)

    assert (outputs["boards"], outputs["region"], outputs["wood"]) == ("4", "regions/us-east1", "pine")
    assert AUTONAMED not in outputs


def test_a_refresh_takes_drifted_values_and_keeps_hidden_inputs():
    given = {**OLD, AUTONAMED: True}
    drifted = {**LIVE, "boards": 5, "varnish": "gloss"}

    assert lifecycle.refresh(SHELF, State("books", LIVE), given, LIVE) == given
    assert lifecycle.refresh(SHELF, State("books", drifted), given, LIVE) == {**given, "boards": 5, "varnish": "gloss"}
    assert lifecycle.refresh(SHELF, State("books", drifted), given, {**LIVE, UNREAD: True}) == {**given, "boards": 5}


def test_an_import_returns_the_inputs_that_a_user_would_write():
    imported = lifecycle.import_inputs(SHELF, State("books", {**LIVE, "labels": {}, "wood": "pine"}))

    assert imported == {
        "name": "books",
        "boards": 4,
        "light": {"color": "red"},
        "varnish": "matt",
        "key": "k",
        IMPORTED: True,
    }


@pytest.mark.parametrize(
    ("news", "olds", "proposal", "name"),
    [
        ({"name": "mine"}, {}, None, "mine"),
        ({}, {"name": "books-1234567", AUTONAMED: True}, None, "books-1234567"),
        ({}, {}, Proposal("Proposed", "propose"), "proposed"),
        ({}, {}, Proposal("Exactly_this", "enforce"), "Exactly_this"),
    ],
)
def test_a_name_comes_from_the_program_the_old_inputs_or_the_proposal(news, olds, proposal, name):
    inputs, failures = name_inputs(SHELF.autoname, NameRequest("books", b"", proposal), olds, news)

    assert (inputs["name"], failures) == (name, [])
    assert inputs.get(AUTONAMED, False) is ("name" not in news)


def test_without_autonaming_a_name_is_required():
    inputs, failures = name_inputs(SHELF.autoname, NameRequest("books", b"", Proposal("", "disable")), {}, {})

    assert inputs == {}
    assert [(finding.path, finding.reason.partition(",")[0]) for finding in failures] == [(("name",), "is required")]
