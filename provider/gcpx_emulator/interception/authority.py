"""A certificate authority for one run, which only the program of that run trusts."""

from __future__ import annotations

import functools
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import attrs
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

_PROTOCOLS: Final = ["http/1.1", "h2"]
"""What servers speak; only clients of gRPC do not offer the first."""
_NAME: Final = "gcpx-emulator run"
_LIFETIME: Final = timedelta(days=30)
_BEFORE: Final = timedelta(days=1)
"""How long before its issue a certificate is valid, for programs that set their clock back."""
_USAGE: Final = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


@attrs.define(eq=False, slots=False)
class Authority:
    """Signs the certificates of hosts.

    Attributes:
        folder: where the certificates of hosts and their key are; the authority's own key is only in memory.
    """

    folder: Path
    _key: ec.EllipticCurvePrivateKey = attrs.Factory(_new_key)
    _key_of_hosts: ec.EllipticCurvePrivateKey = attrs.Factory(_new_key)

    @functools.cached_property
    def certificate(self) -> str:
        """The authority's own certificate, in PEM."""
        builder = self._builder(_NAME, self._key).add_extension(_USAGE, critical=True)
        return self._signed(builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True))

    def context(self) -> ssl.SSLContext:
        """Return a server's context; it shows a certificate of the host that the client names."""
        context, of_host = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), functools.cache(self._context_of)

        def choose(connection: Any, host: str | None, _: ssl.SSLContext) -> None:
            if host is not None:
                connection.context = of_host(host)

        context.sni_callback = choose
        context.set_alpn_protocols(_PROTOCOLS)
        return context

    def _context_of(self, host: str) -> ssl.SSLContext:
        file = self.folder / "host.pem"  # contexts are loaded from files only
        key = self._key_of_hosts.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        names = x509.SubjectAlternativeName([x509.DNSName(host)])
        builder = self._builder(host, self._key_of_hosts).add_extension(names, critical=False)
        file.write_text(key + self._signed(builder))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        context.set_alpn_protocols(_PROTOCOLS)
        return context

    def _builder(self, name: str, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        """Begin a certificate for the owner of a key."""
        now, ours, theirs = datetime.now(UTC), self._key.public_key(), key.public_key()
        subject, issuer = (x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, given[:64])]) for given in (name, _NAME))
        builder = x509.CertificateBuilder(
            issuer, subject, theirs, x509.random_serial_number(), now - _BEFORE, now + _LIFETIME
        )
        builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(theirs), critical=False)
        return builder.add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ours), critical=False)

    def _signed(self, builder: x509.CertificateBuilder) -> str:
        return builder.sign(self._key, SHA256()).public_bytes(Encoding.PEM).decode()
