"""A folder is packed into the same archive again, which every version of the CLI can unpack."""

from __future__ import annotations

import os
import tarfile

import pytest

from release import plugin_archive


@pytest.fixture
def folder(tmp_path):
    found = tmp_path / "plugin"
    (found / "library").mkdir(parents=True)
    (found / "program").write_text("a program")
    (found / "program").chmod(0o700)
    (found / "library" / "module").write_text("a module")
    (found / "library" / "link").symlink_to("module")
    os.link(found / "library" / "module", found / "library" / "same")
    return found


def test_equal_folders_give_equal_archives(folder, tmp_path):
    plugin_archive.pack(folder, tmp_path / "one.tar.gz")
    os.utime(folder / "program", (1, 1))
    (folder / "library" / "module").chmod(0o600)
    plugin_archive.pack(folder, tmp_path / "another.tar.gz")

    one, another = ((tmp_path / name).read_bytes() for name in ("one.tar.gz", "another.tar.gz"))

    assert one == another
    assert one[4:8] == bytes(4), "the header of gzip contains no time"


def test_an_archive_contains_files_only(folder, tmp_path):
    plugin_archive.pack(folder, tmp_path / "one.tar.gz")
    with tarfile.open(tmp_path / "one.tar.gz") as tar:
        members = {member.name: member for member in tar}
        contents = {name: tar.extractfile(name).read() for name in members}

    assert all(member.isreg() for member in members.values())
    assert {name: content for name, content in contents.items() if content == b"a module"}.keys() == {
        "library/link", "library/module", "library/same",
    }  # fmt: skip
    assert {name for name, member in members.items() if member.mode == 0o755} == {"program"}
