"""No function, list or configuration shows a secret argument, however Google's response quotes it."""

from __future__ import annotations

import itertools

import pytest
from engines import driver
from engines.clocked import ClockedProvider
from engines.driver import failing, rpc, secret, struct
from samples import SAMPLES
from secret_values.planted_secrets import SHAPES, SPELLINGS, shown
from secret_values.secret_calls import FAULTS, Observer
from secret_values.secret_places import places
from values.programs import PROJECT

from gcpx.config import KIND
from gcpx.model.fields import object_type
from gcpx.provider import FUNCTIONS, function_class, resource_class

PLACE = {"project": PROJECT, "region": "us-east1", "zone": "us-east1-b"}
ARGUMENTS = {
    "gcpx:compute:getOperation": {"operation": "operation-1"},
    "gcpx:oauth2:getTokenInfo": {"idToken": "eyJhbGciOi.eyJzdWIiOi.c2ln"},
    "gcpx:pubsub:verifyPushToken": {"audience": "https://example.com", "serviceAccountEmail": "a@example.com"},
}
LISTS = {sample.token: sample.query for sample in SAMPLES.values()}


@pytest.fixture
def observer(cloud):
    with driver.engine(ClockedProvider(), **PLACE, emulatorHost=cloud.host) as engine:
        yield Observer(engine, cloud)


def _leaks(observer, kind, given, call):
    """Plant a secret at every place of arguments, in turns with faults; return what leaked."""
    turns = zip(itertools.cycle(SPELLINGS.values()), itertools.cycle(FAULTS.values()))
    shapes = itertools.cycle(SHAPES.values())
    leaked = []
    for place, _ in itertools.product(places(kind), range(6)):
        (spell, fault), marker = next(turns), next(shapes)
        arguments = place.plant(given, marker)
        said = observer.said(lambda planted=arguments: call(struct(planted)), fault(spell(marker)))
        if shown(said, marker):
            leaked.append((place, said))
    return leaked


@pytest.mark.parametrize("token", FUNCTIONS)
def test_no_function_shows_a_secret_argument(observer, token, caplog):
    def call(arguments):
        return observer.engine.stub.Invoke(rpc.InvokeRequest(tok=token, args=arguments))

    kind = object_type(function_class(token).arguments)
    assert _leaks(observer, kind, ARGUMENTS.get(token, {}), call) == []
    caplog.clear()  # responses of wrong types


@pytest.mark.parametrize("token", LISTS)
def test_no_list_shows_a_secret_query(observer, token, caplog):
    def call(query):
        return list(observer.engine.stub.List(rpc.ListRequest(token=token, query=query)))

    assert _leaks(observer, object_type(resource_class(token).query), LISTS[token], call) == []
    caplog.clear()  # as above


def test_no_check_of_the_configuration_shows_a_value(observer):
    def call(news):
        return observer.engine.stub.CheckConfig(
            rpc.CheckRequest(urn="urn:pulumi:dev::test::pulumi:providers:gcpx::p", news=news)
        ).failures

    def configure(args):
        return observer.engine.stub.Configure(rpc.ConfigureRequest(args=args))

    for name, marker in itertools.product(KIND.inputs, SHAPES.values()):
        for value in (secret(marker), marker):
            failures = list(call(struct({name: value})))
            said = " ".join(f"{failure.property} {failure.reason}" for failure in failures)
            assert not shown(said, marker), name
            assert not [failure for failure in failures if failure.property], name
            assert not shown(observer.said(lambda given=value, at=name: configure(struct({at: given}))), marker), name


@pytest.mark.parametrize("endpoint", ["http://HOST/MARKER", "http://HOST/MARKER/compute/v1", "https://MARKER.invalid/"])
def test_no_error_shows_a_setting_that_the_user_marks_as_secret(cloud, caplog, endpoint):
    marker, token = "planted0WxYz1", "ya29.token"
    address = secret(endpoint.replace("HOST", cloud.host).replace("MARKER", marker))
    with driver.engine(ClockedProvider(), **PLACE, accessToken=token, computeCustomEndpoint=address) as engine:
        with failing() as failed:
            engine.invoke("gcpx:compute:listRegions")
        said = [failed[0].message, *(message for *_, message in engine.log.messages)]

    assert "[secret]" in failed[0].message
    assert not shown(" ".join(said), marker)
