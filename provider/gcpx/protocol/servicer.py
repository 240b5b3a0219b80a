"""Pulumi's resource-provider protocol: decode, find the resource, call it, encode."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cache, partial
from typing import Any, Final

import attrs
import grpc
from google.protobuf import empty_pb2

from gcpx.errors import ProviderError, UserError
from gcpx.model import codec, lifecycle, naming
from gcpx.model.check import CheckResult, check
from gcpx.model.context import Context
from gcpx.model.fields import Failure, ObjectType
from gcpx.model.naming import AUTONAMED, CreationMark, name_inputs, without_hidden
from gcpx.model.redaction import printable, redact
from gcpx.model.resource import Announcing, Growing, NothingToImport, PartialError, Resource, State
from gcpx.model.secrecy import mark_secrets
from gcpx.model.state import legible, pack_hidden, unpack_hidden, with_absent, without_absent
from gcpx.model.values import Path, has_unknown, parse_path, reveal
from gcpx.protocol import proto, wire
from gcpx.protocol.engine import EngineLog
from gcpx.protocol.failures import FailureWriter, InitFailed, guarded, guarded_stream, wrapping_unexpected_errors
from gcpx.protocol.outputs import Outputs
from gcpx.protocol.plugin import Plugin, resource_token, secrets_in
from gcpx.protocol.stack_memory import Entry, StackMemory
from gcpx.protocol.wire import decode, encode

_PAGE: Final = 500
"""The default number of results per page."""


class Servicer(proto.provider_grpc.ResourceProviderServicer):  # type: ignore[misc]
    """One method per RPC, except the RPCs that `LazyServicer` answers."""

    def __init__(self, plugin: Plugin, log: EngineLog) -> None:
        self.plugin = plugin
        self._log = log
        self._memory = StackMemory()

    @guarded
    def Attach(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Connect to an engine that attaches to the running plugin."""
        self._log.connect(request.address)
        return empty_pb2.Empty()

    @guarded
    def GetSchema(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Return the schema."""
        self._log.require_cli()  # not in the Handshake: the CLI reports its failure as a bug of the plugin
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
        """Check the provider's configuration; return the inputs as the user wrote them, with secrets marked."""
        self._log.require_cli()
        news = decode(request.news)
        result, kind = self.plugin.check_config(news), self.plugin.config_type
        failures = self._reported(request.urn, result, lambda: self._writer(kind, news, marked=False))
        return proto.provider.CheckResponse(inputs=encode(mark_secrets(kind, news)), failures=failures)

    @guarded
    def DiffConfig(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Compare two configurations; no difference replaces the resources created with the old one."""
        old = decode(request.old_inputs) or decode(request.olds)
        return wire.diff_response(self.plugin.diff_config(reveal(old), reveal(decode(request.news))), False)

    @guarded
    def Configure(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Set the configuration."""
        self._log.require_cli()
        args = decode(request.args) or {name.rpartition(":")[2]: value for name, value in request.variables.items()}
        self.plugin.configure(args)
        self._memory = StackMemory(request.id, request.urn)
        return proto.provider.ConfigureResponse(
            acceptSecrets=True, supportsPreview=True, supports_autonaming_configuration=True
        )

    @guarded
    def Invoke(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Call a function."""
        function = self.plugin.function(request.tok)
        arguments = codec.without_empty(function.type, decode(request.args))
        checked = check(function.type, arguments, function.failures(reveal(arguments)))
        unknown = (name for name, value in arguments.items() if has_unknown(value))
        checked.failures.extend(Failure((name,), "must be known when the function is called") for name in unknown)
        self._raise_if_invalid(f"{request.tok} was not called", function.type, arguments, checked)
        marked = mark_secrets(function.type, without_hidden(arguments))
        with wrapping_unexpected_errors():
            result = function.invoke(self._call(request), reveal(marked))
        result = with_absent(function.result_type, result)
        return proto.provider.InvokeResponse(**{"return": encode(mark_secrets(function.result_type, result, marked))})

    @guarded_stream
    def List(self, request: Any, rpc_context: grpc.ServicerContext) -> Iterator[Any]:
        """List existing resources: one page, or up to `limit` results."""
        resource = self.plugin.resource(request.token)
        query = codec.without_empty(resource.query_type, decode(request.query))
        message = proto.provider.ListResponse
        if has_unknown(query):
            yield message(computed=message.Computed())
            return
        checked = check(resource.query_type, query, resource.query_failures(reveal(query)))
        self._raise_if_invalid(f"{request.token} was not listed", resource.query_type, query, checked)
        context = self._call(request)
        token, left = request.continuation_token, request.limit
        while rpc_context.is_active():
            with wrapping_unexpected_errors():
                page = resource.page(
                    context, reveal(query), token, min(request.page_size or _PAGE, max(left, 0) or _PAGE)
                )
            for found in page.resources:  # terminals show them
                yield message(result=message.Result(id=printable(found.id), name=printable(found.name)))
            token, left = page.token, left - len(page.resources)
            if not token or left <= 0:
                break
        if token:
            yield message(continuation=message.Continuation(continuation_token=token))

    @guarded
    def Check(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Name the resource, and find all failures of its inputs."""
        resource, olds = self.plugin.resource(resource_token(request)), decode(request.olds)
        kind = resource.type
        given = codec.without_empty(kind, decode(request.news))
        inputs, unnamed = name_inputs(resource.autoname, wire.name_request(request), olds, given)
        plain = reveal(inputs)
        found = [*resource.failures(plain), *([] if olds else resource.creation_failures(plain))]
        checked = check(kind, inputs, found)
        if not checked.failures:
            inputs = codec.resolved(kind, inputs)
            if self.plugin.validates_online:
                context = self._call(request)
                with wrapping_unexpected_errors():
                    checked.failures.extend(lifecycle.check_online(resource, context, olds, inputs))
        checked.failures.extend(unnamed)
        failures = self._reported(request.urn, checked, lambda: self._writer(kind, inputs))
        if not failures:
            self._memory.checked(request.urn, resource.autoname, reveal(olds))
        return proto.provider.CheckResponse(inputs=encode(mark_secrets(kind, inputs)), failures=failures)

    @guarded
    def Diff(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Compare inputs by meaning; offline and without effects."""
        resource, new = self.plugin.resource(resource_token(request)), decode(request.news)
        old = new if request.old_inputs == request.news else decode(request.old_inputs)
        outputs = _outputs_in(request.olds, resource, _ignored(request))
        plain = reveal(outputs)
        plan = lifecycle.plan(resource, reveal(old), reveal(new), plain)
        self._memory.show(request.urn, request.id, plain)
        shared = self._memory.keep(Entry.of(resource, request.urn, request.id, plain))
        for warning in [*plan.warnings, *([shared] if shared else [])]:
            self._call(request, outputs).warn(warning)
        shown = lifecycle.shown_changes(plan, old, new) or lifecycle.newly_secret(resource, outputs, new)
        return wire.diff_response(shown, plan.delete_first)

    @guarded
    def Create(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Create the resource or, in a preview, predict its outputs."""
        resource, inputs = self.plugin.resource(resource_token(request)), decode(request.properties)
        outputs = Outputs(resource, inputs)
        if request.preview:
            if isinstance(resource, Announcing):
                with wrapping_unexpected_errors():
                    resource.announce_creation(self._call(request), without_hidden(reveal(inputs)))
            return proto.provider.CreateResponse(properties=outputs.predicted())
        replaced = self._memory.replaced(request.urn)
        context = attrs.evolve(self._call(request), autonamed=bool(inputs.get(AUTONAMED)), replaces=replaced)
        state, error = _create_or_update(outputs, context, partial(lifecycle.create, resource, context))
        self._memory.created(Entry.of(resource, request.urn, state.id, state.properties, state.mark))
        written = outputs.written(state, error)
        return proto.provider.CreateResponse(
            id=state.id, properties=written, refresh_before_update=self._is_read_first(resource, state)
        )

    @guarded
    def Read(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Refresh or import a resource; an empty ID in the response says that it is gone."""
        resource = self.plugin.resource(resource_token(request))
        inputs, prior = decode(request.inputs), _outputs_in(request.properties, resource)
        # The state has outputs, but no inputs, of what a program only reads (`get`): it is read as for an import.
        importing = not inputs and CreationMark.of(prior) is None
        self._memory.show(request.urn, request.id, prior)
        plain = reveal(inputs)
        with wrapping_unexpected_errors():
            context = self._call(request, prior)
            state, unfinished = lifecycle.read(
                resource, context, request.id, None if importing else without_hidden(plain)
            )
        if state is None and importing and not prior:
            raise NothingToImport(request.id, resource.identity(request.id, {}), resource.id_forms)
        if state is None:
            self._memory.forget(Entry.of(resource, request.urn, request.id, context.prior))
            return proto.provider.ReadResponse()
        fresh = (
            lifecycle.import_inputs(resource, state)
            if importing
            else lifecycle.refresh(resource, state, plain, reveal(prior))
        )
        described = lifecycle.outputs_of(resource, state, fresh, is_finished=not unfinished)
        outputs = encode(pack_hidden(resource.type, mark_secrets(resource.type, described, inputs, prior)))
        is_only_read = importing and bool(prior)
        refreshed = encode({} if is_only_read else mark_secrets(resource.type, fresh, inputs, prior))
        is_read_first = self._is_read_first(resource, state, is_finished=not unfinished)
        if unfinished:
            raise InitFailed(state.id, outputs, refreshed, unfinished, is_read_first=is_read_first)
        return proto.provider.ReadResponse(
            id=state.id, inputs=refreshed, properties=outputs, refresh_before_update=is_read_first
        )

    @guarded
    def Update(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Change the resource in place, or finish an earlier run's work."""
        resource = self.plugin.resource(resource_token(request))
        old, new, ignored = decode(request.old_inputs), decode(request.news), _ignored(request)
        prior = _outputs_in(request.olds, resource, ignored)
        outputs = Outputs(resource, new, old, prior)
        changed = lifecycle.changed_paths(resource, reveal(old), reveal(new), reveal(prior))
        before = without_hidden(reveal(old))
        context = attrs.evolve(
            self._call(request, prior), changed=changed, ignored=ignored, autonamed=bool(new.get(AUTONAMED))
        )
        if request.preview:
            unchanged: Collection[str] = ()
            if isinstance(resource, Announcing):
                with wrapping_unexpected_errors():
                    unchanged = resource.announce_update(context, before, without_hidden(reveal(new)))
            return proto.provider.UpdateResponse(properties=outputs.predicted(unchanged))
        update = partial(lifecycle.update, resource, context, request.id, before)
        state, error = _create_or_update(outputs, context, update)
        written = outputs.written(state, error)
        return proto.provider.UpdateResponse(
            properties=written, refresh_before_update=self._is_read_first(resource, state)
        )

    @guarded
    def Delete(self, request: Any, _: grpc.ServicerContext) -> Any:
        """Delete the resource."""
        resource = self.plugin.resource(resource_token(request))
        prior = _outputs_in(request.properties, resource)
        context = self._call(request, prior)
        kept_because = self._memory.release(Entry.of(resource, request.urn, request.id, context.prior))
        if kept_because is None:
            with wrapping_unexpected_errors():
                lifecycle.delete(resource, context, request.id)
        elif kept_because:
            context.warn(kept_because)
        return empty_pb2.Empty()

    def _call(self, request: Any, prior: dict[str, Any] | None = None) -> Context:
        """Describe the call for the resource; its messages show no secret of the request."""
        urn, plain = getattr(request, "urn", ""), reveal(prior or {})
        secrets = cache(partial(secrets_in, request, self.plugin))  # found with the first message

        def redacted(send: Callable[[str, str], None], message: str) -> None:
            send(urn, redact(message, secrets()))

        return Context(
            urn=urn,
            timeout=getattr(request, "timeout", None) or None,
            started=self.plugin.clock(),
            cancelled=self.plugin.cancelled,
            progress=partial(redacted, self._log.progress),
            inform=partial(redacted, self._log.inform),
            warn=partial(redacted, self._log.warn),
            prior=plain,
            clock=self.plugin.clock,
            parallel=self.plugin.parallel,
            requester=naming.requester(self._memory.provider_id, urn, plain),
            provider_urn=self._memory.provider_urn,
            urn_of=self._memory.urn_of,
            claim=partial(self._memory.claim, urn),
        )

    def _is_read_first(self, resource: Resource[Any], state: State, *, is_finished: bool = True) -> bool:
        online = self.plugin.validates_online
        return lifecycle.is_read_first(resource, state, is_finished=is_finished, validates_online=online)

    def _writer(self, kind: ObjectType, values: dict[str, Any], *, marked: bool = True) -> FailureWriter:
        return FailureWriter.of(kind, values, self.plugin.secrets, marked=marked)

    def _reported(self, urn: str, checked: CheckResult, make_writer: Callable[[], FailureWriter]) -> list[Any]:
        """Print the warnings of a check, and return its failures in the protocol's form."""
        if not checked.failures and not checked.warnings:
            return []
        writer = make_writer()
        for warning in checked.warnings:
            self._log.warn(urn, writer.sentence(warning, " "))
        return writer.failures(checked.failures)

    def _raise_if_invalid(self, what: str, kind: ObjectType, values: dict[str, Any], checked: CheckResult) -> None:
        """Print the warnings of a check; raise UserError if it has failures.

        The responses could carry failures, but `pulumi do` does not show them, and SDKs show only the first.
        """
        self._reported("", checked, lambda: self._writer(kind, values))
        if checked.failures:
            raise self._writer(kind, values).refusal(what, checked.failures)


def _outputs_in(message: Any, resource: Resource[Any], ignored: Collection[Path] = ()) -> dict[str, Any]:
    """Read the outputs in the state, without absent and illegible ones, and without the causes of ignored changes."""
    outputs = without_absent(resource.type, legible(resource.type, unpack_hidden(decode(message))))
    return resource.ignoring(outputs, ignored) if ignored and isinstance(resource, Growing) else outputs


def _ignored(request: Any) -> tuple[Path, ...]:
    """Return the paths whose changes the user ignores."""
    return tuple(map(parse_path, request.ignoreChanges))


def _create_or_update(
    outputs: Outputs, context: Context, verb: Callable[[dict[str, Any]], State]
) -> tuple[State, PartialError | None]:
    """Create or update; return the resource, and the error if the work on it is not finished."""
    plain = reveal(outputs.inputs)
    try:
        with wrapping_unexpected_errors():
            return verb(without_hidden(plain)), None
    except ProviderError as error:
        raise outputs.resource.explain_error(context, plain, error) from error
    except PartialError as error:
        return error.state, error
