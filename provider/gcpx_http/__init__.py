"""HTTP requests with bounded responses, and with the proxies and certificates that the environment names.

What sends requests is in `gcpx_http.connections`. `gcpx_http.hosts` loads no HTTP library.
"""
