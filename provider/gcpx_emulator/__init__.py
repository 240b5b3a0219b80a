"""Google Cloud's REST APIs on loopback, as far as gcpx and its users' programs need them."""
