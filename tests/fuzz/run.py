"""Every border parser under coverage-guided fuzzing: ``make fuzz RUNS=1000000``; RUNS is the number of inputs of all.

Each target runs in a process of its own, ``--jobs`` at a time, with its share of the inputs. Any exception that its
parser does not document ends it, and so does an input that takes longer than ten seconds; the input is kept in the
folder of findings, and ``python -m fuzz.run --again TARGET FILE`` shows it again.
"""

from __future__ import annotations

import argparse
import logging
import math
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from salvo.system.distribution import PACKAGES

if TYPE_CHECKING:  # it must be imported under atheris's eyes
    from fuzz.targets import Target

#: An input takes microseconds; libFuzzer ends the process after so long.
HANG_SECONDS: Final = 60
_INSTRUMENTED: Final = [*PACKAGES, "amqtt"]
#: What a mutation may put in beside what it has seen.
_DICTIONARY: Final = (
    *"{}[]:,/+#",
    *("true", "null", "1.0", "-0", "1e9", "9" * 20, "[[[[[[[[", "players", "game", "ships"),
    *(
        f'\\"{key}\\"'
        for key in ("data", "payload", "signature", "name", "secret", "coordinates", "Orientation", "x", "y")
    ),
    *(r"\\ud800", r"\\u0000", r"\x00", r"\xff", r"\xed\xa0\x80", r"\x82", r"\x10", r"\x32", r"\x00\x04MQTT"),
)


class Figures(NamedTuple):
    """What became of one target.

    Attributes:
        edges: of our code and amqtt's that were reached, as libFuzzer counts them.
        inputs_kept: those that reached something new.
    """

    name: str
    inputs: int
    edges: int
    inputs_stored: int
    seconds: float
    failed: bool


def main() -> int:
    """Run all targets, print a table, and return 1 if there was a finding."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000_000, help="inputs of all targets together")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="one target")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    parser.add_argument("--again", nargs=2, metavar=("TARGET", "FILE"), help="read one input again")
    given = parser.parse_args()
    from fuzz.every_target import TARGETS

    if given.again:
        [target] = [target for target in TARGETS if target.name == given.again[0]]
        target.read(Path(given.again[1]).read_bytes())
        return 0
    wanted = [target for target in TARGETS if given.only in (None, target.name)]
    parts = sum(1 / target.cost for target in wanted)
    given.findings.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(given.jobs) as pool:
        figures = list(
            pool.map(
                lambda target: run(target, math.ceil(given.runs / parts / target.cost), given.seed, given.findings),
                wanted,
            )
        )
    print(f"\n{'target':16} {'inputs':>9} {'edges':>6} {'kept':>5} {'inputs/s':>9}")
    for each in figures:
        rate = each.inputs / max(each.seconds, 0.1)
        print(
            f"{each.name:16} {each.inputs:9,} {each.edges:6,} {each.inputs_stored:5,} {rate:9,.0f}"
            + ("  FINDING" if each.failed else "")
        )
    total = sum(each.inputs for each in figures)
    failed = [each.name for each in figures if each.failed]
    print(
        f"{total:,} inputs in all; "
        + (f"findings in {', '.join(failed)}: see {given.findings}" if failed else "no finding")
    )
    return 1 if failed or total < given.runs else 0


def run(target: Target, inputs: int, seed: int, findings: Path) -> Figures:
    """Run one target in a process of its own."""
    name = target.name
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        corpus, dictionary = Path(folder, "corpus"), Path(folder, "dictionary")
        corpus.mkdir()
        for number, data in enumerate(target.seeds()):
            Path(corpus, f"seed-{number:04}").write_bytes(data)
        dictionary.write_text("".join(f'"{token}"\n' for token in _DICTIONARY))
        slug = name.replace(" ", "-")
        arguments = [
            f"-runs={inputs}",
            f"-seed={seed}",
            f"-timeout={HANG_SECONDS}",
            f"-max_len={target.longest}",
            f"-dict={dictionary}",
            f"-artifact_prefix={findings.absolute() / slug}-",
            "-rss_limit_mb=2048",
            str(corpus),
        ]
        command = [sys.executable, "-c", "import sys, fuzz.run; fuzz.run.fuzz(*sys.argv[1:])", name, *arguments]
        begin = time.monotonic()
        process = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False
        )
        seconds = time.monotonic() - begin
    output = process.stdout
    progress = re.findall(r"^#(\d+)\s.*?cov: (\d+) .*?corp: (\d+)", output, re.MULTILINE)
    done = re.search(r"^Done (\d+) runs", output, re.MULTILINE)
    count = int(done[1]) if done else int(progress[-1][0]) if progress else 0
    failed = process.returncode != 0 or done is None
    print(f"{name}: {count:,} inputs in {seconds:.0f} s" + (", FAILED" if failed else ""), flush=True)
    if failed:
        Path(findings, f"{slug}.txt").write_text(output)
        print(output[-3000:], flush=True)
    return Figures(
        name, count, int(progress[-1][1]) if progress else 0, int(progress[-1][2]) if progress else 0, seconds, failed
    )


def fuzz(name: str, *arguments: str) -> None:
    """Fuzz one target in this process; libFuzzer ends the process."""
    import atheris

    with atheris.instrument_imports(include=_INSTRUMENTED):
        from fuzz.every_target import TARGETS
    logging.disable(logging.CRITICAL)
    [target] = [target for target in TARGETS if target.name == name]
    atheris.Setup([sys.argv[0], *arguments], target.read)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
