"""Google's hosts, answered by an emulator: a proxy takes the calls of one program, whatever its client.

The proxy leads calls to Google's hosts to a port of the emulator that has a certificate of an authority of its own, and
passes on all other calls. Clients learn of both, and of credentials, from environment variables.
"""
