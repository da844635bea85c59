"""The frozen ladder: measures the strengths of its rungs, and how often a comparison of neighbours is right.

python tests/bench/ladder.py strengths --games 1000 random hunter@0.5 hunter   # rungs as they stand in a file
python tests/bench/ladder.py itself --times 200                                # each rung with the next
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from salvo_lab.comparison import ERROR, Verdict, compare
from salvo_lab.ladder import GAMES, frozen, points


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    strengths = parts.add_parser("strengths")
    strengths.add_argument("bots", nargs="+", help="from weak to strong")
    strengths.add_argument("--games", type=int, default=1000)
    strengths.add_argument("--rules", default="salvo")
    itself = parts.add_parser("itself")
    itself.add_argument("--times", type=int, default=200)
    for part in (strengths, itself):
        part.add_argument("--jobs", type=int)
    given = parser.parse_args()
    if given.part == "strengths":
        print("\n".join(measured(given.bots, given.rules, given.games, given.jobs)))
    else:
        against_itself(given.times, given.jobs)


def measured(bots: Sequence[str], rules: str, games: int, jobs: int | None) -> Iterator[str]:
    """Yield the rungs as they stand in a file; each has played the next."""
    strength = 0.0
    yield from _rung(bots[0], strength)
    for weaker, stronger in pairwise(bots):
        rate = compare(stronger, weaker, games=games, rules=rules, seed="ladder", jobs=jobs, confidence=1 - 1e-9).rate
        strength += points(rate)
        print(f"# {stronger} wins {rate:.1%} against {weaker}", flush=True)
        yield from _rung(stronger, strength)


def _rung(bot: str, strength: float) -> Iterator[str]:
    yield from ("", "[[rung]]", f'name = "{bot}-v1"', f'bot = "{bot}"', f"strength = {round(strength)}")


def against_itself(times: int, jobs: int | None) -> None:
    """Compare each rung with the next, one after the other, as a climb does."""
    ladder, verdicts, games = frozen(), Counter[Verdict](), 0
    neighbours = list(pairwise(ladder.rungs))
    for time in range(times):
        weaker, stronger = neighbours[time % len(neighbours)]
        error = ERROR / len(ladder.rungs).bit_length()
        found = compare(
            stronger.bot, weaker.bot, games=GAMES, seed=f"itself-{time}", rules=ladder.rules, confidence=1 - error,
            margin=None, jobs=jobs,
        )  # fmt: skip
        verdicts[found.verdict] += 1
        games += found.games
        print(f"{time + 1}: {stronger.name} is {found.verdict} ({found.rate:.1%}, {found.games} games)", flush=True)
    print(f"right {verdicts[Verdict.BETTER]}, wrong {verdicts[Verdict.WORSE]}, undecided {verdicts[Verdict.UNDECIDED]}")
    print(f"{games / times:.0f} games a comparison")


if __name__ == "__main__":
    main()
