"""`make dist`: everything in a release agrees, and can be built again."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tarfile
import zipfile

import pytest
from generate import package_schema
from workspace import ROOT

from gcpx import __version__
from release import dist, download_url


@pytest.mark.languages
def test_the_checksums_of_a_release_are_those_of_its_files(release):
    lines = (release.folder / "SHA256SUMS").read_text().splitlines()
    sums = {name: total for total, name in (line.split("  ") for line in lines)}

    assert sums == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in release.folder.iterdir()
        if path.name != "SHA256SUMS"
    }
    assert len(sums) == 7


@pytest.mark.languages
def test_wheels_and_archive_know_where_the_plugin_is_downloaded_from(release):
    package = package_schema.package(release.url)
    with zipfile.ZipFile(*release.folder.glob("pulumi_gcpx_provider-*.whl")) as plugin:
        assert json.loads(plugin.read("gcpx/schema.json")) == package
    with zipfile.ZipFile(*release.folder.glob("pulumi_gcpx-*.whl")) as sdk:
        described = json.loads(sdk.read("pulumi_gcpx/pulumi-plugin.json"))
        assert (described["name"], described["version"], described["server"]) == ("gcpx", __version__, release.url)
    with tarfile.open(release.archive) as tar:
        (name,) = [name for name in tar.getnames() if name.endswith("/schema.json")]
        assert json.load(tar.extractfile(name)) == package


@pytest.mark.languages
def test_building_again_gives_the_same_files(release, tmp_path):
    (tmp_path / f"pulumi-resource-gcpx-v0.0.1-{dist.plugin_archive.target()}.tar.gz").write_text(
        "of an earlier release"
    )
    (tmp_path / "gcpx_push-0.0.1-py3-none-any.whl").write_text("as above")
    dist.dist(tmp_path, release.url)

    assert (tmp_path / "SHA256SUMS").read_text() == (release.folder / "SHA256SUMS").read_text()
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in release.folder.iterdir()}


@pytest.mark.parametrize(
    "url",
    [
        "",
        "https://downloads.example.com/gcpx",
        "https://example.com:8443/gcpx/v${VERSION}/${OS}-${ARCH}",
        "https://example.com",
        "http://127.0.0.1:8000",
        "http://localhost/gcpx",
        "github://api.github.com/example/gcpx",
    ],
)
def test_urls_that_plugins_are_downloaded_from_are_accepted(url):
    assert download_url.checked(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "https://me:hunter2@example.com/gcpx",
        "https://me:a/hunter2@example.com/gcpx",
        "https://me:a@hunter2@example.com/gcpx",
        "me:hunter2@example.com/gcpx",
        "https://example.com/gcpx?sig=hunter2",
        "https://example.com/gcpx#hunter2",
    ],
)
def test_a_secret_in_a_url_is_not_shown(url):
    with pytest.raises(download_url.InvalidDownloadUrlError) as refused:
        download_url.checked(url)

    assert "hunter2" not in str(refused.value)


def test_a_slash_at_the_end_of_a_url_is_left_out():
    assert download_url.checked("https://example.com/gcpx/") == "https://example.com/gcpx"


@pytest.mark.parametrize(
    "url",
    [
        "example.com/gcpx",
        "http://example.com/gcpx",
        "http://127.0.0.1.example.com/gcpx",
        "ftp://example.com/gcpx",
        "https://",
        "https:///gcpx",
        "https://example.com/gcpx?token=a",
        "https://example.com/gcpx#a",
        "https://me:secret@example.com/gcpx",
        "https://example.com/a b",
        "https://example.com/$VERSION",
        "github://api.github.com/example",
        "github://example/gcpx/releases/latest",
        "https://example.com/gcpx\n",
    ],
)
def test_other_urls_are_refused(url):
    with pytest.raises(download_url.InvalidDownloadUrlError, match="is not a URL that plugins are downloaded from"):
        download_url.checked(url)


def test_a_refused_url_says_what_to_write_before_anything_is_built(tmp_path):
    command = [sys.executable, "-m", "release.dist", str(tmp_path / "dist"), "ftp://example.com/gcpx"]
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "tools")}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert done.stderr.startswith("make dist: DOWNLOAD_URL=ftp://example.com/gcpx is not a URL that plugins ")
    assert "https://HOST/PATH" in done.stderr
    assert "github://api.github.com/OWNER/REPOSITORY" in done.stderr
    assert not (tmp_path / "dist").exists()
