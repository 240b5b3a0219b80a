"""Builds and checks a release: `make dist`, `make release-check`, and steps of `.github/workflows/release.yml`."""
