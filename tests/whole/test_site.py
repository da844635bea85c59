"""The site that ``make docs`` builds: complete, small, from here alone, and searchable."""

from __future__ import annotations

import re
import subprocess
import sysconfig
from pathlib import Path
from urllib.parse import quote

import pytest

from kit.browser import browser, until
from kit.documents import ROOT
from kit.programs import needs

pytestmark = [needs("chromium"), pytest.mark.slow]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build = Path(sysconfig.get_path("scripts")) / "sphinx-build"
    subprocess.run([build, "--quiet", "--fail-on-warning", "--conf-dir", "docs", ".", folder], cwd=ROOT, check=True)
    return folder


def test_the_site_is_below_ten_megabytes_and_loads_nothing_from_elsewhere(site: Path) -> None:
    files = [file for file in site.rglob("*") if file.is_file() and ".doctrees" not in file.parts]
    assert sum(file.stat().st_size for file in files) < 10_000_000
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|link rel=\"stylesheet\")[^>]+(?:src|href)=\"([^\"]+)\"", text)
        assert [place for place in loaded if place.startswith(("http:", "https:", "//"))] == []


def test_search_finds_a_page_by_a_word_of_its_text(site: Path) -> None:
    with browser() as window:
        window.open(f"{site.as_uri()}/search.html?q={quote('symbolic link')}")
        until(window, "document.querySelectorAll('#search-results li a').length > 0")
        found = window.run("return [...document.querySelectorAll('#search-results li a')].map(link => link.href)")
    assert any("docs/measure.html" in link for link in found)
