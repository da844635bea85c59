"""Plants errors in the code and counts which of them the quick tests find.

    python tests/mutants/run.py --draw 300 --seed 2026           300 errors drawn from all parts
    python tests/mutants/run.py engine witness --draw 60         from some parts; their names stand in nearest.py
    python tests/mutants/run.py --again before.json              those of an earlier report by --json
    python tests/mutants/run.py --transitions salvo_game/transitions.py:_TRANSITIONS   the lines of a table

Each error is planted in a copy of the tree, and the tests nearest to it run until one fails. What these miss is listed
at once, and tried by all tests of ``make test``, a minute or two each; what lives through them is listed at the end.
The same seed draws the same errors from the same code. What no test can find, because the code means the same, may be
accepted in accepted.toml, with a reason. A test that finds one must pass on the code as it is, right after. The exit
code is 1 if fewer than ``--least`` percent of the others are found, or one that an earlier report has as found, and 2
if nothing could be tried or accepted.toml is out of date.

Why not mutmut 3: it draws no sample (its issue 278), takes every test that executes a function for one of it, however
far away, and changes nothing outside functions, where our tables stand.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from random import Random
from typing import Any, Final, NamedTuple

from rich.console import Console
from rich.progress import track

sys.path.insert(0, str(Path(__file__).parents[1]))

from annexes.run import QUICK
from mutants.mutators import Key, Mutant, mutants
from mutants.nearest import PARTS, Part
from mutants.transitions import transition_mutants
from mutants.trial import Copy

_ROOT: Final = Path(__file__).parents[2]
_ACCEPTED: Final = Path(__file__).with_name("accepted.toml")
_TERMINAL: Final = Console(stderr=True)
#: It compares a table with the document that is printed from it, so it would find every transition without trying one.
_COMPARES_THE_DOCUMENT: Final = "--deselect=tests/whole/test_contract.py"


@dataclass(frozen=True)
class Tree:
    """Where the code is, what of it is mutated, and the arguments of pytest that run all quick tests."""

    root: Path
    sources: Sequence[str]
    parts: dict[str, Part]
    quick: Sequence[str] = ()

    def files(self, part: str) -> list[str]:
        """Return the modules of a part, relative to the root.

        Raises:
            ValueError: a pattern matches none.
        """
        found: list[str] = []
        for pattern in self.parts[part].files:
            matching = sorted(path.relative_to(self.root).as_posix() for path in self.root.glob(pattern))
            if not matching:
                raise ValueError(f"nearest.py: {part} names {pattern}, and there is no such file")
            found += matching
        return found

    def mutants(self, part: str) -> Iterator[Mutant]:
        """Yield all mutants of a part."""
        for file in self.files(part):
            yield from mutants(file, (self.root / file).read_text())

    def again(self, keys: Sequence[Key]) -> dict[Key, tuple[str, Mutant]]:
        """Return the mutants of other versions that the code still has, also of a module that has moved."""
        every = [(part, mutant) for part in self.parts for mutant in self.mutants(part)]
        here = {mutant.key: (part, mutant) for part, mutant in reversed(every)}
        moved = {mutant.key[1:]: (part, mutant) for part, mutant in reversed(every)}
        known = {mutant.file for _, mutant in every}
        found = {key: here.get(key) or (None if key.file in known else moved.get(key[1:])) for key in keys}
        return {key: planted for key, planted in found.items() if planted}

    def transitions(self, file: str, table: str) -> Iterator[Mutant]:
        """Yield all mutants of a table."""
        return transition_mutants(file, (self.root / file).read_text(), table)

    def find(self, module: str) -> tuple[str, str]:
        """Return the part and the file that a path, or its end, is meant for.

        Raises:
            ValueError: there is none, or there are several.
        """
        found = [(part, file) for part in self.parts for file in self.files(part) if f"/{file}".endswith(f"/{module}")]
        if len(found) != 1:
            raise ValueError(f"{module} is the end of {len(found)} paths of nearest.py, and must be of one")
        return found[0]


class Trial(NamedTuple):
    """One mutant and the test that found it; "" if none did."""

    part: str
    mutant: Mutant
    killer: str


class Accepted:
    """Mutants that may live, each with its reason."""

    def __init__(self, text: str) -> None:
        listed = tomllib.loads(text).get("mutant", [])
        self._reasons = {Key(*(each[name] for name in Key._fields)): each["reason"] for each in listed}

    def reason(self, mutant: Mutant) -> str | None:
        """Return why it may live; None if it may not."""
        return self._reasons.get(mutant.key)

    def check(self, tree: Tree) -> None:
        """Raise a ValueError if one of them is no mutant of the code."""
        planted = {mutant.key for part in tree.parts for mutant in tree.mutants(part)}
        for key in self._reasons:
            if key not in planted and key not in _transitions_at(tree, key):
                raise ValueError(f"accepted.toml: nothing turns {key.before!r} into {key.after!r} in {key.place}")


def _transitions_at(tree: Tree, key: Key) -> set[Key]:
    try:
        return {mutant.key for mutant in tree.transitions(tree.find(key.file)[1], key.place)}
    except ValueError:
        return set()


def described(mutant: Mutant) -> str:
    """Return where a mutant is and what it changes."""
    return f"{mutant.file}:{mutant.line} {mutant.place}: {mutant.before}  ->  {mutant.after}"


def draw(planted: Sequence[tuple[str, Mutant]], number: int, seed: int) -> list[tuple[str, Mutant]]:
    """Return so many of the mutants, in their order."""
    chosen = sorted(Random(seed).sample(range(len(planted)), min(number, len(planted))))
    return [planted[each] for each in chosen]


def try_all(tree: Tree, planted: Sequence[tuple[str, Mutant]], jobs: int, extra: Sequence[str] = ()) -> list[Trial]:
    """Run the nearest tests on each mutant, ``jobs`` at a time, and on what they miss all quick tests, one by one.

    Raises:
        ValueError: tests fail without any mutant.
    """
    tests = {part: [*tree.parts[part].tests, *extra] for part, _ in planted}
    with ExitStack() as stack:
        copies = [stack.enter_context(Copy(tree.root, tree.sources)) for _ in range(jobs)]
        seconds = {part: max(copy.check(tree.files(part), tests[part]) for copy in copies) for part in tests}
        idle: SimpleQueue[Copy] = SimpleQueue()
        for copy in copies:
            idle.put(copy)

        def trial(part: str, mutant: Mutant, text: str) -> Trial:
            copy = idle.get()
            try:
                return Trial(part, mutant, copy.try_out(mutant.file, text, tests[part], seconds[part]))
            finally:
                idle.put(copy)

        pool = ThreadPoolExecutor(jobs)
        running = [pool.submit(trial, part, mutant, mutant.write()) for part, mutant in planted]
        try:
            shown = track(
                as_completed(running), "mutants", len(running), console=_TERMINAL, disable=not _TERMINAL.is_terminal
            )
            for done in shown:
                if not done.result().killer:
                    print("the nearest tests miss:", described(done.result().mutant), file=sys.stderr)
            trials = [each.result() for each in running]
            if tree.quick and any(not each.killer for each in trials):
                trials = _try_far(copies[0], trials, ("-n", str(jobs), *tree.quick, *extra))
            return trials
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for copy in copies:
                copy.stop()
            pool.shutdown()


def _try_far(copy: Copy, trials: Sequence[Trial], tests: Sequence[str]) -> list[Trial]:
    """Run other tests on those mutants that live."""
    seconds = copy.check((), tests)
    shown = track(trials, "all quick tests", console=_TERMINAL, disable=not _TERMINAL.is_terminal)
    return [
        trial
        if trial.killer
        else trial._replace(killer=copy.try_out(trial.mutant.file, trial.mutant.write(), tests, seconds))
        for trial in shown
    ]


class Report:
    """What was found, part by part."""

    def __init__(self, trials: Sequence[Trial], accepted: Accepted) -> None:
        self.killed = [trial for trial in trials if trial.killer]
        self.accepted = [trial for trial in trials if not trial.killer and accepted.reason(trial.mutant)]
        self.survivors = [trial for trial in trials if not trial.killer and not accepted.reason(trial.mutant)]
        #: Accepted, and found nevertheless: the reason is wrong.
        self.mistaken = [trial for trial in self.killed if accepted.reason(trial.mutant)]
        self._reason = accepted.reason

    def share(self, part: str | None = None) -> float:
        """Return the percentage found of those that are not accepted, of one part or of all."""
        killed, living = (sum(part in (None, each.part) for each in some) for some in (self.killed, self.survivors))
        return 100 * killed / (killed + living) if killed + living else 100.0

    def lines(self) -> Iterator[str]:
        """Yield the report for a reader."""
        for title, trials in (
            ("lives", self.survivors),
            ("accepted", self.accepted),
            ("killed, though accepted", self.mistaken),
        ):
            for _, mutant, killer in trials:
                why = f"  ({killer or self._reason(mutant)})" if trials is not self.survivors else ""
                yield f"{title}: {described(mutant)}{why}"
        for part in dict.fromkeys(trial.part for trial in [*self.killed, *self.accepted, *self.survivors]):
            yield self._summary(part, part)
        yield self._summary("all", None)

    def _summary(self, title: str, part: str | None) -> str:
        counts = [
            sum(part in (None, each.part) for each in some) for some in (self.killed, self.accepted, self.survivors)
        ]
        return f"{title:14}{self.share(part):6.1f} %   {counts[0]} killed, {counts[1]} accepted, {counts[2]} live"

    def as_json(self) -> dict[str, Any]:
        """Return the report for a program."""
        every = [*self.killed, *self.accepted, *self.survivors]
        return {
            "share": self.share(),
            "parts": {part: self.share(part) for part in sorted({trial.part for trial in every})},
            "mutants": [
                {
                    **trial.mutant.key._asdict(),
                    "line": trial.mutant.line,
                    "part": trial.part,
                    "killer": trial.killer,
                    "accepted": self._reason(trial.mutant),
                }
                for trial in every
            ],
        }


def main(arguments: Sequence[str], tree: Tree, accepted: str) -> int:
    """Plant errors, print what became of them, and return the exit code."""
    given = _parser(tree).parse_args(arguments)
    extra: tuple[str, ...] = ()
    before: dict[Key, str] = {}
    still: dict[Key, tuple[str, Mutant]] = {}
    try:
        reasons = Accepted(accepted)
        reasons.check(tree)
        if given.again:
            listed = json.loads(given.again.read_text())["mutants"]
            before = {Key(*(each[name] for name in Key._fields)): each["killer"] for each in listed}
            still = tree.again(list(before))
            planted = list(still.values())
            given.draw = len(planted)
        elif given.transitions:
            module, _, table = given.transitions.partition(":")
            part, file = tree.find(module)
            planted, extra = [(part, mutant) for mutant in tree.transitions(file, table)], (_COMPARES_THE_DOCUMENT,)
        else:
            planted = [(part, mutant) for part in given.part or tree.parts for mutant in tree.mutants(part)]
        report = Report(try_all(tree, draw(planted, given.draw, given.seed), given.jobs, extra), reasons)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; above is what was found until then", file=sys.stderr)
        return 130
    print(json.dumps(report.as_json(), indent=1) if given.json else "\n".join(report.lines()))
    living = {trial.mutant.key for trial in report.survivors}
    lost = [key for key, (_, mutant) in still.items() if before[key] and mutant.key in living]
    for title, keys in (("gone", before.keys() - still.keys()), ("no more found", lost)):
        for key in sorted(keys):
            print(f"{title}: {key.file} {key.place}: {key.before}  ->  {key.after}  ({before[key]})", file=sys.stderr)
    return 2 if report.mistaken else int(bool(lost) or report.share() < given.least)


def _parser(tree: Tree) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "part", nargs="*", choices=[*tree.parts, []], help=f"of {', '.join(tree.parts)}; all by default"
    )
    parser.add_argument("--again", type=Path, metavar="JSON", help="try those of an earlier report that still exist")
    parser.add_argument("--transitions", metavar="MODULE:TABLE", help="plant errors in a table instead")
    parser.add_argument("--draw", type=int, default=300, help="errors to plant (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=2026, help="of the draw (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="at a time (default: %(default)s)")
    parser.add_argument("--least", type=float, default=90, help="percentage to be found (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(
        main(sys.argv[1:], Tree(_ROOT, ("client_sdk", "server"), PARTS, ("-m", QUICK, "tests")), _ACCEPTED.read_text())
    )
