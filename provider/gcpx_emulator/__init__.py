"""An emulator of the Google Cloud REST APIs that gcpx and its users' programs need, on loopback."""
