"""The programs of PostgreSQL's server."""

from __future__ import annotations

import postgresql


def test_the_newest_release_of_debian_is_found_among_other_folders(tmp_path):
    for name in ("9.6", "15", "16beta", "old"):
        programs = tmp_path / name / "bin"
        programs.mkdir(parents=True)
        (programs / "pg_ctl").touch()

    assert postgresql.programs(tmp_path) == tmp_path / "15" / "bin"
