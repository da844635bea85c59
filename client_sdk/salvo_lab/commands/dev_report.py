"""The report of ``salvo dev`` on a save, as lines and as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from salvo.errors import BotError, SalvoError
from salvo_lab.commands.dev_bench import Bench, BotFailed, Trial
from salvo_lab.commands.failures import traced
from salvo_lab.highlights import LostGame, lost_by_most, lost_since
from salvo_lab.intervals import change_and_error, rate_and_error

#: Below the time of the first line.
INDENT = " " * 10
_PLACE = re.compile(r"(?P<file>[^:\n]+\.py):(?P<line>\d+): ")


def _verdict(new: Sequence[float], old: Sequence[float]) -> str:
    """Return in a word what has become of the same pairs."""
    if new == old:
        return "unchanged"
    moved, unsure = change_and_error(new, old)
    return "better" if moved > unsure else "worse" if moved < -unsure else "undecided"


def _worth_seeing(trial: Trial, last: Trial | None) -> Iterator[tuple[LostGame, str]]:
    """Yield what fell deepest since the last save and what was lost by most, and the sources of the opponents."""
    if last is not None and trial.pairs == last.pairs:
        return  # it was reported already
    earlier = last.rounds if last is not None else ()
    fell = [(lost_since(new.scores, old.scores), new.source) for new, old in zip(trial.rounds, earlier, strict=False)]
    most = [(lost_by_most(played.scores), played.source) for played in trial.rounds]
    for found in (fell, most):
        chosen = [(lost, source) for lost, source in found if lost is not None]
        if chosen:
            yield min(chosen, key=lambda candidate: candidate[0].score.lead)


def lines(trial: Trial, last: Trial | None, bench: Bench) -> Iterator[str]:
    """Yield what came of a save for people: what it has changed, by opponent.

    Args:
        last: what it is compared with.
    """
    trace = _trace(trial.wrong)
    if isinstance(trial.wrong, BotFailed):
        text, where = _text_and_place(bench, trial.wrong)
        yield f"{trial.at}  {where + ': ' if where else ''}{trial.wrong.failure.code}: {text}"
        yield f"{INDENT}again: {traced(trial.wrong.command, trace)}"
        return
    if trial.wrong is not None:
        text, where = _text_and_place(bench, trial.wrong)
        problem = f"{where}: {text}" if where else str(trial.wrong)
        yield f"{trial.at}  {problem}".replace("\n", f"\n{INDENT}")
        return
    yield f"{trial.at}  {_first_line(trial, last)}  ({trial.games} games in {trial.seconds:.1f} s)"
    yield from (f"{INDENT}{row}" for row in _table(trial, last))
    if last is None:
        yield f"{INDENT}a tie is half a win; +- is the 95% interval"
    for lost, source in _worth_seeing(trial, last):
        yield f"{INDENT}{lost.in_words}: {bench.again(source, lost.score.game)}"


def _trace(wrong: BotFailed | SalvoError | None) -> str:
    return wrong.failure.trace if isinstance(wrong, BotFailed) else wrong.trace if isinstance(wrong, BotError) else ""


def _first_line(trial: Trial, last: Trial | None) -> str:
    if last is None:
        return "baseline; the next save is compared with it"
    verdict = _verdict(trial.pairs, last.pairs)
    return f"{verdict} by this save: {_change(trial.pairs, last.pairs)}"


def _table(trial: Trial, last: Trial | None) -> Iterator[str]:
    """Yield a row for each opponent and one for all, under one of headings."""
    olds = [played.pairs for played in (last or trial).rounds]
    rows = [(played.against, played.pairs, old) for played, old in zip(trial.rounds, olds, strict=True)]
    if len(rows) > 1:
        rows.append(("all", trial.pairs, last.pairs if last else []))
    width = max(len("against"), *(len(against) for against, _, _ in rows))
    headings = f"{'against':{width}}  {'games won':>15}"
    yield headings if last is None else f"{headings}  {'at ' + last.at:>11}  by this save"
    for against, pairs, old in rows:
        row = f"{against:{width}}  {_rate(pairs):>15}"
        yield (row if last is None else f"{row}  {f'{rate_and_error(old)[0]:.1%}':>11}  {_change(pairs, old)}")


def _rate(pairs: Sequence[float]) -> str:
    rate, error = rate_and_error(pairs)
    return f"{rate:.1%} +- {error:.1%}"


def _change(new: Sequence[float], old: Sequence[float]) -> str:
    """Return what has become of the same pairs."""
    if new == old:
        return "no game ended differently"
    moved, unsure = change_and_error(new, old)
    return f"{moved:+.1%} +- {unsure:.1%}"


def _text_and_place(bench: Bench, wrong: BotFailed | SalvoError) -> tuple[str, str]:
    """Return a text without the line that it names, and the line as editors open it, where it is the bot's."""
    text = wrong.failure.text if isinstance(wrong, BotFailed) else wrong.text
    found = _PLACE.match(text)
    if found is None:
        return text, ""
    file = bench.file.parent / found["file"]
    return (text[found.end() :], f"{file}:{found['line']}") if file.is_file() else (text, "")


def record(trial: Trial, last: Trial | None, bench: Bench) -> dict[str, object]:
    """Return what came of a save for JSON."""
    values: dict[str, object] = {"seconds": round(trial.seconds, 3)}
    if isinstance(trial.wrong, BotFailed):
        failure = trial.wrong.failure
        text, where = _text_and_place(bench, trial.wrong)
        return values | {
            "failure": {"player": failure.player, "game": failure.game, "turn": failure.turn, "code": failure.code}
            | {"text": text, "where": where, "again": trial.wrong.command}
        }
    if trial.wrong is not None:
        text, where = _text_and_place(bench, trial.wrong)
        return values | {"error": {"code": trial.wrong.code, "text": text, "where": where}}
    olds = [None] * len(trial.rounds) if last is None else [played.pairs for played in last.rounds]
    values |= {"games": trial.games} | _figures(trial.pairs, None if last is None else last.pairs)
    values["opponents"] = [
        {"against": played.against, "games": len(played.scores)} | _figures(played.pairs, old)
        for played, old in zip(trial.rounds, olds, strict=True)
    ]
    values["lost"] = [
        {"why": lost.why, "game": lost.score.game, "hits": lost.score.hits, "rival_hits": lost.score.rival_hits}
        | {"again": bench.again(source, lost.score.game)}
        for lost, source in _worth_seeing(trial, last)
    ]
    return values


def _figures(new: Sequence[float], old: Sequence[float] | None) -> dict[str, object]:
    rate, error = rate_and_error(new)
    if old is None:
        return {"rate": rate, "plus_minus": error}
    moved, unsure = change_and_error(new, old)
    verdict = _verdict(new, old)
    return {"rate": rate, "plus_minus": error, "verdict": verdict, "change": moved, "change_plus_minus": unsure}
