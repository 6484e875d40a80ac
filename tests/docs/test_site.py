"""The site builds without a warning, its links are valid, and it loads nothing from other hosts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from mkdocs.commands.build import build
from mkdocs.config import load_config

from tests.docs.pages import DOCS, PAGES, ROOT, page_name, without_blocks


class _Page(HTMLParser):
    """The links of a page, the addresses that it loads, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value}
        self.anchors.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        self.loaded += [given[name] for name in ("src", "href") if name in given and tag != "a"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, _Page]:
    """Every page of the built site, by its path."""
    place = tmp_path_factory.mktemp("site")
    config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(place), strict=True)
    build(config)
    return {path: _Page(path.read_text(encoding="utf-8")) for path in place.rglob("*.html")}


def test_every_page_is_in_the_site(site: dict[Path, _Page]) -> None:
    assert {path.stem for path in site} >= {path.stem for path in DOCS.rglob("*.md")}


def test_links_lead_to_pages_and_anchors(site: dict[Path, _Page]) -> None:
    wrong = []
    for path, page in site.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or path.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = site.get(target)
            valid = target.exists() if known is None else not parts.fragment or unquote(parts.fragment) in known.anchors
            if not valid:
                wrong.append(f"{path.name}: {link}")
    assert not wrong


def test_nothing_is_loaded_from_other_hosts(site: dict[Path, _Page]) -> None:
    assert not [each for page in site.values() for each in page.loaded if urlsplit(each).netloc]
    assert "http" not in (DOCS / "architecture.svg").read_text(encoding="utf-8").replace(
        "http://www.w3.org/2000/svg", ""
    )


def test_every_page_is_in_the_navigation() -> None:
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    listed = list(_leaves(nav))
    assert sorted(listed) == sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


def _leaves(node: object) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict | list):
        for each in node.values() if isinstance(node, dict) else node:
            yield from _leaves(each)


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_in_the_repository(page: Path) -> None:
    """The links of the source files are valid, too: a code host shows the pages, and README only there."""
    for link in re.findall(r"\]\(([^)\s]+)\)", without_blocks(page)):
        parts = urlsplit(link)
        if parts.scheme:
            continue
        target = page.parent / parts.path if parts.path else page
        assert target.exists(), link
        if parts.fragment:
            assert parts.fragment in _headings(target), link


def _headings(page: Path) -> set[str]:
    """The anchors that a code host generates for headings."""
    headings = re.findall(r"^#+ (.+)$", without_blocks(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
