"""What ``salvo dev`` tells of a save, in lines and for programs."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence

from salvo.errors import SalvoError
from salvo.laboratory.intervals import change_and_error, rate_and_error
from salvo.laboratory.worth_seeing import Lost, lost_by_most, lost_since
from salvo_server.cli.dev_bench import BEFORE, Bench, Failed, Round, Trial

#: Below the time of the first line.
INDENT = " " * 10
_PLACE = re.compile(r" \((?P<file>[^()]+\.py), line (?P<line>\d+)\)$")


def _verdict(new: Sequence[float], old: Sequence[float]) -> str:
    """Return in a word what has become of the same pairs."""
    if new == old:
        return "unchanged"
    moved, unsure = change_and_error(new, old)
    return "better" if moved > unsure else "worse" if moved < -unsure else "undecided"


def _worth_seeing(trial: Trial, last: Trial | None) -> Iterator[tuple[Lost, str]]:
    """Yield what fell deepest since the last save and what was lost by most, and the sources of the opponents."""
    if last is not None and trial.pairs == last.pairs:
        return  # it was told already
    earlier = last.rounds if last is not None else ()
    fell = [(lost_since(new.scores, old.scores), new.source) for new, old in zip(trial.rounds, earlier, strict=False)]
    most = [(lost_by_most(each.scores), each.source) for each in trial.rounds]
    for found in (fell, most):
        chosen = [(lost, source) for lost, source in found if lost is not None]
        if chosen:
            yield min(chosen, key=lambda each: each[0].score.lead)


def lines(trial: Trial, last: Trial | None, bench: Bench) -> Iterator[str]:
    """Yield what came of a save for people; the last one is what it is compared with."""
    at = time.strftime("%H:%M:%S")
    if isinstance(trial.wrong, Failed):
        text, where = _told(bench, trial.wrong)
        whose = where or trial.wrong.against
        yield f"{at}  {whose + ': ' if whose else ''}{trial.wrong.failure.code}: {text}"
        yield f"{INDENT}again: {trial.wrong.command}"
        return
    if trial.wrong is not None:
        text, where = _told(bench, trial.wrong)
        yield f"{at}  {where}: {text}" if where else f"{at}  {trial.wrong}"
        return
    yield f"{at}  {_first_line(trial, last, bench)}  ({trial.seconds:.1f} s)"
    if len(trial.rounds) > 1:
        width = max(len(each.against) for each in trial.rounds)
        for number, each in enumerate(trial.rounds):
            old = None if last is None else last.rounds[number].pairs
            yield f"{INDENT}{each.against:{width}}  {_rate_line(each, old)}"
    for lost, source in _worth_seeing(trial, last):
        yield f"{INDENT}{lost.in_words}: {bench.again(source, lost.score.game)}"


def _first_line(trial: Trial, last: Trial | None, bench: Bench) -> str:
    shown = trial if last is not None else trial.played
    if not shown.rounds:
        return f"{bench.file.name} plays; {BEFORE} is this version from now on"
    rate, error = rate_and_error(shown.pairs)
    line = f"{rate:.1%} +- {error:.1%} of {shown.games} games against "
    line += shown.rounds[0].against if len(shown.rounds) == 1 else f"{len(shown.rounds)} opponents"
    if last is None:
        return line
    line = f"{_verdict(trial.pairs, last.pairs)}: {line}, {_change(trial.pairs, last.pairs)} since the last save"
    return line + (_since_before(trial.rounds[0]) if len(trial.rounds) == 1 else "")


def _rate_line(each: Round, old: Sequence[float] | None) -> str:
    if old is None and each.against == BEFORE:
        return "this version from now on"
    rate, error = rate_and_error(each.pairs)
    return f"{rate:6.1%} +- {error:.1%}" + (f", {_change(each.pairs, old)}" if old else "") + _since_before(each)


def _since_before(each: Round) -> str:
    """Return what games of the bot against itself tell directly."""
    if each.against != BEFORE:
        return ""
    verdict = _verdict(each.pairs, [0.5] * len(each.pairs))
    return (
        f"; {verdict} than {BEFORE}" if verdict in ("better", "worse") else f"; as good as {BEFORE}, as far as is seen"
    )


def _change(new: Sequence[float], old: Sequence[float]) -> str:
    if new == old:
        return "no game changed"
    moved, unsure = change_and_error(new, old)
    return f"{moved:+.1%} +- {unsure:.1%}"


def _told(bench: Bench, wrong: Failed | SalvoError) -> tuple[str, str]:
    """Return a text without the line that it names, and the line as editors open it, where it is the bot's."""
    text = wrong.failure.text if isinstance(wrong, Failed) else wrong.text
    found = _PLACE.search(text)
    if found is None or (isinstance(wrong, Failed) and wrong.against):
        return text, ""
    file = bench.file.parent / found["file"]
    return (text[: found.start()], f"{file}:{found['line']}") if file.is_file() else (text, "")


def record(trial: Trial, last: Trial | None, bench: Bench) -> dict[str, object]:
    """Return what came of a save for JSON."""
    told: dict[str, object] = {"seconds": round(trial.seconds, 3)}
    if isinstance(trial.wrong, Failed):
        failure = trial.wrong.failure
        text, where = _told(bench, trial.wrong)
        return told | {
            "failure": {"player": failure.player, "game": failure.game, "turn": failure.turn, "code": failure.code}
            | {"text": text, "where": where, "again": trial.wrong.command}
        }
    if trial.wrong is not None:
        text, where = _told(bench, trial.wrong)
        return told | {"error": {"code": trial.wrong.code, "text": text, "where": where}}
    shown = trial if last is not None else trial.played
    if not shown.rounds:
        return told | {"games": 0, "opponents": [], "lost": []}
    olds = [None] * len(shown.rounds) if last is None else [each.pairs for each in last.rounds]
    told |= {"games": shown.games} | _figures(shown.pairs, None if last is None else last.pairs)
    told["opponents"] = [
        {"against": each.against, "games": len(each.scores)} | _figures(each.pairs, old)
        for each, old in zip(shown.rounds, olds, strict=True)
    ]
    told["lost"] = [
        {"why": lost.why, "game": lost.score.game, "hits": lost.score.hits, "rival_hits": lost.score.rival_hits}
        | {"again": bench.again(source, lost.score.game)}
        for lost, source in _worth_seeing(trial, last)
    ]
    return told


def _figures(new: Sequence[float], old: Sequence[float] | None) -> dict[str, object]:
    rate, error = rate_and_error(new)
    if old is None:
        return {"rate": rate, "plus_minus": error}
    moved, unsure = change_and_error(new, old)
    verdict = _verdict(new, old)
    return {"rate": rate, "plus_minus": error, "verdict": verdict, "change": moved, "change_plus_minus": unsure}
