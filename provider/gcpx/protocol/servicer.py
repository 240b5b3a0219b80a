"""Pulumi's resource-provider protocol: decode, find the resource, call it, encode."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs
import grpc
from google.protobuf import empty_pb2

from gcpx.errors import ProviderError, UserError
from gcpx.model import codec, naming
from gcpx.model.call import Call
from gcpx.model.check import Finding, Report, check, place
from gcpx.model.compare import Comparison
from gcpx.model.diff import diff
from gcpx.model.fields import ObjectType
from gcpx.model.resource import Live, PartialError, Resource
from gcpx.model.rules import Failure
from gcpx.model.secrecy import hidden, protect, redact
from gcpx.model.values import has_unknown, reveal, secret_texts
from gcpx.protocol import messages, proto
from gcpx.protocol.failures import InitFailed, disclosing_nothing, guarded, guarded_stream, understanding_answers
from gcpx.protocol.log import EngineLog
from gcpx.protocol.plugin import Plugin
from gcpx.protocol.wire import decode, encode

_PAGE: Final = 500
"""Results to ask for at once, where the engine does not say."""
_NOT_THERE: Final = (
    "must name something that exists in Google Cloud and fits here; the value is secret and is not shown"
)


@attrs.frozen
class _Target:
    """The resource a request is about."""

    resource: Resource
    urn: str

    @property
    def name(self) -> str:
        return self.urn.rpartition("::")[2]


class Servicer(proto.provider_grpc.ResourceProviderServicer):  # type: ignore[misc]
    """One method per RPC."""

    def __init__(self, plugin: Plugin, log: EngineLog) -> None:
        self.plugin = plugin
        self._log = log

    @guarded
    def Handshake(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Agree on how values travel: secrets marked, references as IDs, autonaming wanted."""
        if request.engine_address:
            self._log.connect(request.engine_address)
        return proto.provider.ProviderHandshakeResponse(accept_secrets=True, supports_autonaming_configuration=True)

    @guarded
    def Attach(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Take the address of an engine that found us running."""
        self._log.connect(request.address)
        return empty_pb2.Empty()

    @guarded
    def GetPluginInfo(self, _request: Any, _: grpc.ServicerContext) -> Any:
        """Give the version."""
        return proto.plugin.PluginInfo(version=self.plugin.version)

    @guarded
    def GetSchema(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Give the schema."""
        if request.version:
            raise UserError(f"the schema version must be 0, not {request.version}")
        return proto.provider.GetSchemaResponse(schema=self.plugin.schema())

    @guarded
    def GetMapping(self, _request: Any, _: grpc.ServicerContext) -> Any:
        """Map from no other ecosystem."""
        return proto.provider.GetMappingResponse()

    @guarded
    def GetMappings(self, _request: Any, _: grpc.ServicerContext) -> Any:
        """Map from no other ecosystem."""
        return proto.provider.GetMappingsResponse()

    @guarded
    def CheckConfig(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Check the provider's configuration; what the user wrote is returned as it is."""
        news = decode(request.news)
        report, kind = self.plugin.check_config(news), self.plugin.config_type
        failures = self._said(request.urn, kind, news, report, marked=False)
        return proto.provider.CheckResponse(inputs=request.news, failures=failures)

    @guarded
    def DiffConfig(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Compare configurations; none of them ever replaces the resources made with it."""
        old = decode(request.old_inputs) or decode(request.olds)
        return messages.diff_response(self.plugin.diff_config(reveal(old), reveal(decode(request.news))), False)

    @guarded
    def Configure(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Take the configuration."""
        args = decode(request.args) or messages.legacy_variables(request.variables)
        self.plugin.configure(reveal(args))
        return proto.provider.ConfigureResponse(
            acceptSecrets=True, supportsPreview=True, supports_autonaming_configuration=True
        )

    @guarded
    def Invoke(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Call a function."""
        function, arguments = self.plugin.function(request.tok), decode(request.args)
        kind = function.type
        report = self._judged(kind, arguments, function.problems(reveal(arguments)))
        self._said("", kind, arguments, report)
        if report.failures:
            # A response may contain failures, but `pulumi do` does not show them, and SDKs show only the first.
            findings = messages.Findings.of(kind, arguments, self.plugin.secrets)
            raise findings.refusal(f"{request.tok} was not called", report.failures)
        marked = protect(kind, _known(arguments))
        with disclosing_nothing(secret_texts(marked)), understanding_answers():
            result = function.invoke(self._surroundings("", None, marked), reveal(marked))
        return proto.provider.InvokeResponse(**{"return": encode(protect(function.result_type, result, marked))})

    @guarded_stream
    def List(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        """List what exists, page by page: one page, or as much as `limit` asks for."""
        resource, query = self.plugin.resource(request.token), decode(request.query)
        message = proto.provider.ListResponse
        if has_unknown(query):
            yield message(computed=message.Computed())
            return
        report = self._judged(resource.query_type, query, resource.query_problems(reveal(query)))
        if report.failures:
            findings = messages.Findings.of(resource.query_type, query, self.plugin.secrets)
            raise findings.refusal(f"{request.token} was not listed", report.failures)
        call = self._surroundings("", None, query)
        token, left = request.continuation_token, request.limit
        while context.is_active():
            with understanding_answers():
                page = resource.page(call, reveal(query), token, min(request.page_size or _PAGE, max(left, 0) or _PAGE))
            for found in page.found:
                yield message(result=message.Result(id=found.id, name=found.name))
            token, left = page.token, left - len(page.found)
            if not token or left <= 0:
                break
        if token:
            yield message(continuation=message.Continuation(continuation_token=token))

    @guarded
    def Check(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Name the resource and find everything wrong with its inputs."""
        target = self._target(request)
        inputs, unnamed = self._named(target, request)
        kind = target.resource.type
        report = self._judged(kind, inputs, target.resource.problems(reveal(inputs)))
        if not report.failures:
            inputs = codec.resolved(kind, inputs)
        if self.plugin.validates_online and not report.failures:
            call = self._surroundings(request.urn, None, inputs)
            asked = target.resource.check_online(call, reveal(decode(request.olds)), reveal(inputs))
            report.failures.extend(_missing(protect(kind, inputs, inputs), asked))
        if unnamed is not None and target.resource.autoname is not None:
            report.failures.append(Finding((target.resource.autoname.property,), unnamed))
        failures = self._said(request.urn, kind, inputs, report)
        return proto.provider.CheckResponse(inputs=encode(protect(kind, inputs)), failures=failures)

    @guarded
    def Diff(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Compare inputs by meaning; offline and without effects."""
        resource = self._target(request).resource
        live, new = reveal(decode(request.olds)), reveal(decode(request.news))
        old = reveal(decode(request.old_inputs)) or {k: v for k, v in live.items() if k in resource.type.inputs}
        homes = (resource.home(old, live), resource.home(new, live))
        changes = diff(resource.type, old, new, live, Comparison(homes, sure=True))
        changes = [
            attrs.evolve(change, replaces=change.replaces or resource.replaces(change.path)) for change in changes
        ]
        changes = [change for change in changes if not resource.stays(change.path, homes[0], new)]
        if old.get(naming.IMPORTED):
            # An import had to make up what Google never shows, and took in what Google chose: no reasons to replace.
            changes = [change for change in changes if not (change.made_up and change.replaces)]
        collides = any(change.replaces for change in changes) and resource.collides(old, new)
        return messages.diff_response(changes, collides)

    @guarded
    def Create(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Create the resource, or say what creating it would give."""
        target, inputs = self._target(request), decode(request.properties)
        if request.preview:
            return proto.provider.CreateResponse(properties=self._predicted(target, inputs, {}))
        plain = _known(reveal(inputs))
        call = self._call(request, inputs, {})
        live = self._work(target, call, inputs, lambda: target.resource.create(call, plain))
        return proto.provider.CreateResponse(id=live.id, properties=_state(target, live, inputs))

    @guarded
    def Read(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Refresh or import; an empty ID says that the resource is gone."""
        target = self._target(request)
        inputs, last = decode(request.inputs), decode(request.properties)
        importing = not inputs and not last
        call = self._call(request, inputs, last)
        with understanding_answers():
            live = target.resource.read(call, request.id, None if importing else _known(reveal(inputs)))
        if live is None:
            return proto.provider.ReadResponse()
        kind, plain = target.resource.type, reveal(inputs)
        how = target.resource.meaning(plain, live.properties)
        fresh = (
            _imported(target.resource, live, how)
            if importing
            else codec.refreshed(kind, plain, live.properties, reveal(last), how)
        )
        outputs = codec.outputs(kind, _known(fresh), live.properties, how)
        return proto.provider.ReadResponse(
            id=live.id,
            inputs=encode(protect(kind, fresh, inputs)),
            properties=encode(protect(kind, outputs, inputs, last)),
        )

    @guarded
    def Update(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Change the resource in place, or finish what an earlier run left undone."""
        target = self._target(request)
        old, new, last = (decode(request.old_inputs), decode(request.news), decode(request.olds))
        if request.preview:
            return proto.provider.UpdateResponse(properties=self._predicted(target, new, last))
        plain_old, plain_new = _known(reveal(old)), _known(reveal(new))
        call = self._call(request, new, last)
        live = self._work(target, call, new, lambda: target.resource.update(call, request.id, plain_old, plain_new))
        return proto.provider.UpdateResponse(properties=_state(target, live, new))

    @guarded
    def Delete(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Delete the resource."""
        target = self._target(request)
        last = decode(request.properties)
        with understanding_answers():
            target.resource.delete(self._call(request, {}, last), request.id)
        return empty_pb2.Empty()

    def Cancel(self, _request: Any, _: grpc.ServicerContext) -> Any:
        """Wake every wait; comes at the end of every run, not only when a user aborts."""
        self.plugin.cancel()
        return empty_pb2.Empty()

    def _target(self, request: Any) -> _Target:
        token = request.type or request.urn.split("::")[2].rpartition("$")[2]
        return _Target(self.plugin.resource(token), request.urn)

    def _named(self, target: _Target, request: Any) -> tuple[dict[str, Any], str | None]:
        news, rule = decode(request.news), target.resource.autoname
        if rule is None:
            return news, None
        proposal = messages.proposal(request)
        name = request.name or target.name
        return naming.apply(rule, name, decode(request.olds), news, bytes(request.randomSeed), proposal)

    def _judged(self, kind: ObjectType, values: dict[str, Any], problems: list[Failure]) -> Report:
        """Check values by their declaration, and add what is known beyond it."""
        report = check(kind, values)
        report.failures.extend(Finding(place(name), reason) for name, reason in problems)
        return report

    def _call(self, request: Any, inputs: dict[str, Any], last: dict[str, Any]) -> Call:
        return self._surroundings(request.urn, request.timeout or None, inputs, last)

    def _surroundings(
        self, urn: str, timeout: float | None, inputs: dict[str, Any], last: dict[str, Any] | None = None
    ) -> Call:
        last = last or {}
        texts = secret_texts(inputs) | secret_texts(last) | self.plugin.secrets

        def said(send: Callable[[str, str], None]) -> Callable[[str], None]:
            return lambda message: send(urn, redact(message, texts))

        return self.plugin.call(
            urn=urn, timeout=timeout, progress=said(self._log.progress), warn=said(self._log.warn), last=reveal(last)
        )

    def _work(self, target: _Target, call: Call, inputs: dict[str, Any], verb: Callable[[], Live]) -> Live:
        try:
            with understanding_answers():
                return verb()
        except ProviderError as error:
            raise target.resource.explained(call, reveal(inputs), error) from error
        except PartialError as error:
            state = _state(target, error.live, inputs)
            raise InitFailed(error.live.id, state, encode(inputs), str(error)) from error

    def _predicted(self, target: _Target, inputs: dict[str, Any], last: dict[str, Any]) -> Any:
        kind, plain = target.resource.type, reveal(inputs)
        stable = {
            name: value
            for name, value in last.items()
            if name in kind.properties and name not in kind.inputs and not kind.properties[name].traits.volatile
        }
        values = stable | codec.preview(kind, _known(plain)) | target.resource.predict(plain)
        return encode(protect(kind, values, inputs))

    def _said(
        self, urn: str, kind: ObjectType, inputs: dict[str, Any], report: Report, *, marked: bool = True
    ) -> list[Any]:
        """Print the warnings of a report, and give its failures as the engine takes them."""
        if not report.failures and not report.warnings:
            return []
        found = messages.Findings.of(kind, inputs, self.plugin.secrets, marked=marked)
        for warning in report.warnings:
            self._log.warn(urn, found.sentence(warning, " "))
        return found.failures(report.failures)


def _missing(marked: dict[str, Any], asked: list[Failure]) -> list[Finding]:
    """Take what Google does not have; a reason that would tell a part of a secret is left out."""
    found = [(place(name), reason) for name, reason in asked]
    return [Finding(path, _NOT_THERE if hidden(marked, path) else reason) for path, reason in found]


def _known(inputs: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is for the engine alone."""
    return {key: value for key, value in inputs.items() if not key.startswith("__")}


def _state(target: _Target, live: Live, inputs: dict[str, Any]) -> Any:
    kind, plain = target.resource.type, _known(reveal(inputs))
    outputs = codec.outputs(kind, plain, live.properties, target.resource.meaning(plain, live.properties))
    return encode(protect(kind, outputs, inputs))


def _imported(resource: Resource, live: Live, how: Comparison) -> dict[str, Any]:
    defaults = resource.defaults()
    inputs = codec.minimal(resource.type, live.properties, None, how)
    kept = {name: value for name, value in inputs.items() if defaults.get(name) != value}
    return {name: value for name, value in kept.items() if name not in resource.derived} | {naming.IMPORTED: True}
