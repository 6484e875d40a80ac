"""``--profile`` of the commands that reason: prints time and instances by stratum, rule and round.

``--profile`` alone prints tables, ``--profile FILE.html`` also writes a page. In commands that read ontologies, the
same option names the profile of rules (``--profile rl``); both may be given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from everlog.cli.options import together
from everlog.cli.terminal import echo
from everlog.lang.codes import Code, Severity
from everlog.lang.errors import Diagnostic, LimitError, Place, warn
from everlog.settings import SETTINGS

if TYPE_CHECKING:
    from everlog.cli.progress import Progress
    from everlog.profiling.profile import Profile

SHOW, REPORT = "--show-profile", "--profile-report"
ONTOLOGY = SETTINGS["profile"].choices


class ProfiledCommand(click.Command):
    """A command whose ``--profile`` may have no value, or the name of a page."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(with_own_names(args)))


def with_own_names(arguments: Sequence[str]) -> Iterator[str]:
    """The arguments with ``--profile`` for ontologies only; the other uses get option names of their own.

    >>> list(with_own_names(["r.rls", "--profile", "--profile", "rl", "--profile", "p.html", "--profile=q.html"]))
    ['r.rls', '--show-profile', '--profile', 'rl', '--profile-report', 'p.html', '--profile-report', 'q.html']
    """
    rest = iter(range(len(arguments)))
    for number in rest:
        argument = arguments[number]
        following = arguments[number + 1] if number + 1 < len(arguments) else ""
        if argument == "--":
            yield from arguments[number:]
            return
        if argument.startswith("--profile=") and is_page(argument.partition("=")[2]):
            yield from (REPORT, argument.partition("=")[2])
        elif argument != "--profile" or following in ONTOLOGY:
            yield argument
        elif is_page(following):
            yield from (REPORT, following)
            next(rest)
        else:
            yield SHOW


def is_page(path: str) -> bool:
    """Whether a path has the extension of an HTML page."""
    return path.lower().endswith((".html", ".htm"))


profile_options = together(
    click.option(
        SHOW,
        is_flag=True,
        help="Print where time and instances went, by stratum, rule and round; --profile alone is the same.",
    ),
    click.option(
        REPORT,
        type=click.Path(dir_okay=False, writable=True),
        metavar="FILE",
        help="Write where time and instances went to a page with plots, FILE.html; --profile FILE.html is the same.",
    ),
)
"""``--show-profile`` and ``--profile-report``, for a :class:`ProfiledCommand`."""


@contextmanager
def profiled(show: bool, report: str | None, progress: Progress, title: str) -> Iterator[Profile | None]:
    """The profile to fill, None without the option. It is shown at the end, even if a limit stopped the work."""
    if not show and report is None:
        yield None
        return
    from everlog.profiling.profile import Profile

    if report is not None and not Path(report).absolute().parent.is_dir():
        raise click.BadParameter(f"{Path(report).parent} is not a directory", param_hint=REPORT)
    profile = Profile()
    try:
        yield profile
    except LimitError:
        progress.close()
        _show(profile, report, title)
        raise
    _show(profile, report, title)


def _show(profile: Profile, report: str | None, title: str) -> None:
    echo("")
    echo(str(profile))
    if report is not None:
        try:
            profile.write(report, title)
        except OSError as error:  # the profiled work is done, and may have committed a version
            message = f"the profile could not be written: {error.strerror}"
            warn(Diagnostic(Code.NO_PROFILE_PAGE, message, Place(report), severity=Severity.WARNING))
            return
        echo("")
        echo(f"plots      {report}")
