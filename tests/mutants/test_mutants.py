"""Planted errors: what they are, and that the script counts those that tests find."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mutants.mutators import mutants
from mutants.nearest import PARTS, Part
from mutants.run import Accepted, Tree, draw, main
from mutants.transitions import transition_mutants
from mutants.trial import Copy

ROOT = Path(__file__).parents[2]
TINY = """
def larger(a, b):
    return a if a > b else b

def fits(size):
    return size <= 10
"""
TEST = """
from tiny import fits, larger

def test_tiny():
    assert (larger(1, 2), larger(2, 1), larger(2, 2)) == (2, 2, 2)
    assert fits(3) and not fits(11)
"""
EQUAL = """
[[mutant]]
file = "source/tiny.py"
place = "larger"
before = "return a if a > b else b"
after = "return a if a >= b else b"
reason = "equal values are the same"
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """A tree of one module and one test, which needs no plugins."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "tiny.py").write_text(TINY)
    (tmp_path / "test_tiny.py").write_text(TEST)
    return Tree(tmp_path, ("source",), {"tiny": Part(("source/*.py",), ("test_tiny.py",))})


@pytest.mark.slow
def test_surviving_mutants_are_listed_unless_they_are_accepted(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--json", "--least", "51"], tree, EQUAL) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["parts"] == {"tiny": 50.0}
    became = {each["after"]: (each["killer"], each["accepted"]) for each in report["mutants"]}
    assert became == {
        "return a if a >= b else b": ("", "equal values are the same"),
        "return size < 10": ("", None),
        "return size <= 11": ("test_tiny.py::test_tiny", None),
    }
    assert (tree.root / "source" / "tiny.py").read_text() == TINY
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    (tree.root / "test_far.py").write_text("from tiny import fits\ndef test_far(): assert fits(10)")
    assert main(["--json"], replace(tree, quick=("test_far.py",)), EQUAL) == 0
    output = capsys.readouterr()
    assert "the nearest tests miss: source/tiny.py:6 fits: return size <= 10  ->  return size < 10" in output.err
    assert '"killer": "test_far.py::test_far"' in output.out


@pytest.mark.slow
def test_tests_that_fail_by_themselves_find_nothing(tree: Tree, capsys: pytest.CaptureFixture[str]) -> None:
    (tree.root / "test_tiny.py").write_text("def test_wrong(): assert False")
    assert main(["--draw", "1"], tree, "") == 2
    assert "test_tiny.py::test_wrong fails without any error" in capsys.readouterr().err


@pytest.mark.slow
def test_a_test_that_fails_by_luck_finds_nothing(tree: Tree, capsys: pytest.CaptureFixture[str]) -> None:
    """It passes twice, while the tests are tried without an error, and fails from then on."""
    test = "from pathlib import Path\n"
    test += "def test_luck():\n    with Path('times').open('a+') as f: f.write('.'); assert f.tell() < 3"
    (tree.root / "test_tiny.py").write_text(test)
    assert main(["--draw", "1"], tree, "") == 2
    assert "test_tiny.py::test_luck fails without any error, though not always" in capsys.readouterr().err


@pytest.mark.slow
def test_mutants_of_an_earlier_report_are_tried_again_and_must_be_found(
    tree: Tree, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path_factory.mktemp("report") / "before.json"
    assert main(["--json", "--least", "0"], tree, "") == 0
    report.write_text(capsys.readouterr().out)
    (tree.root / "source" / "tiny.py").rename(tree.root / "source" / "moved.py")
    (tree.root / "source" / "moved.py").write_text("\n" + TINY.replace("a > b", "b < a"))
    (tree.root / "test_tiny.py").write_text("from moved import fits\ndef test_tiny():\n    assert fits(3)")
    assert main(["--again", str(report), "--least", "0"], tree, "") == 1
    output = capsys.readouterr().err
    assert "gone: source/tiny.py larger: return a if a > b else b  ->  return a if a >= b else b" in output
    assert (
        "no more found: source/tiny.py fits: return size <= 10  ->  return size <= 11  (test_tiny.py::test_tiny)"
        in output
    )


def test_a_test_is_named_whole(tree: Tree) -> None:
    test = "import pytest\n@pytest.mark.parametrize('a', ['x - y [z] z'])\ndef test_a(a): assert a == '] - '"
    (tree.root / "test_tiny.py").write_text(test)
    with Copy(tree.root, tree.sources) as copy:
        assert copy.run(["test_tiny.py"], 60) == "test_tiny.py::test_a[x - y [z] z]"


@pytest.mark.slow
def test_a_test_that_hangs_is_ended(tree: Tree) -> None:
    (tree.root / "test_tiny.py").write_text("def test_hangs():\n    while True: pass")
    with Copy(tree.root, tree.sources) as copy:
        assert copy.run(["test_tiny.py"], 0.5) == "hung"


def test_a_module_that_is_imported_from_elsewhere_is_refused(tree: Tree) -> None:
    """An installed package must not be tested in place of the copy; of this one Python has its own."""
    with Copy(tree.root, tree.sources) as copy, pytest.raises(ValueError, match="built-in and not from the copy"):
        copy.check(["source/sys.py"], [])


def test_an_accepted_mutant_that_does_not_exist_is_an_error(tree: Tree, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], tree, EQUAL.replace("a > b", "b > a")) == 2
    assert "accepted.toml: nothing turns 'return a if b > a else b' into" in capsys.readouterr().err


@pytest.mark.long
def test_the_table_and_the_accepted_mutants_fit_the_code() -> None:
    tree = Tree(ROOT, ("client_sdk", "server"), PARTS)
    Accepted((ROOT / "tests" / "mutants" / "accepted.toml").read_text()).check(tree)
    for test in (test for part in PARTS.values() for test in part.tests):
        file, _, name = test.partition("[")[0].partition("::")
        assert f"def {name}" in (ROOT / file).read_text(), test


def test_the_same_seed_draws_the_same_mutants(tree: Tree) -> None:
    planted = [("tiny", mutant) for mutant in tree.mutants("tiny")] * 10
    assert draw(planted, 7, 1) == draw(planted, 7, 1) != draw(planted, 7, 2)
    assert draw(planted, 999, 1) == planted


@pytest.mark.parametrize(
    ("source", "changes"),
    [
        ("a < b <= c", {"a <= b <= c", "a < b < c"}),
        ("a and b", {"a or b"}),
        ("x = not a", {"x = a"}),
        ("x = a - b + -c", {"x = a + b + -c", "x = a - b - -c", "x = a - b + c"}),
        ("x = (1, True)", {"x = (2, True)", "x = (1, False)"}),
        ("f(a)", {"pass"}),
        ("a.b = c", {"pass"}),
        ("a[b] += c", {"pass", "a[b] -= c"}),
        ("a = c", set()),
        ("def f() -> bool: return a", {"return not a"}),
        ("def f() -> str: return a", set()),
        ("if a: pass", {"if not a:"}),
        ("while a: break", {"while not a:", "continue"}),
        ("x = [a for a in b if a]", {"x = [a for a in b if not a]"}),
        ("match a:\n case b if c > d: pass", {"case b if c >= d:"}),
        ("class A:\n def __init__(self): self.b = 1", {"self.b = 2"}),
        ("x = f'{a[:40]} and {len(b) - 1}'", set()),
        ("assert a < b", set()),
        ("log.info(1)", set()),
        ("if TYPE_CHECKING: f(1)", set()),
        ("@dataclass(frozen=True)\nclass A: pass", set()),
        ("x = zip(a, b, strict=True)", set()),
        ("class A:\n def __repr__(self): return a + b", set()),
        ("@overload\ndef f(a=1): ...", set()),
    ],
)
def test_every_error_that_is_not_cosmetic_is_planted(source: str, changes: set[str]) -> None:
    planted = list(mutants("file.py", source))
    assert {mutant.after for mutant in planted} == changes
    for mutant in planted:
        compile(mutant.write(), "file.py", "exec")
        assert mutant.after in mutant.write()


def test_every_transition_is_dropped_and_every_field_exchanged_by_others_of_its_column() -> None:
    source = "T = (Transition(A, 'go', to=B), Transition(B, 'go', to=C))"
    assert [mutant.after for mutant in transition_mutants("file.py", source, "T")] == [
        "no such row",
        "no such row",
        "Transition(B, 'go', to=B)",
        "Transition(A, 'go', to=C)",
        "Transition(A, 'go', to=C)",
        "Transition(B, 'go', to=B)",
    ]
    texts = [mutant.write() for mutant in transition_mutants("file.py", source, "T")]
    assert texts[0] == "T = (Transition(B, 'go', to=C),)"
    assert texts[4] == "T = (Transition(A, 'go', to=B), Transition(A, 'go', to=C))"


def test_a_dict_is_a_table_with_its_key_in_a_column_and_may_hold_dicts() -> None:
    flat = "T: dict = {A: frozenset({X}), B: frozenset({Y})}"
    assert [mutant.after for mutant in transition_mutants("file.py", flat, "T")][:4] == [
        "no such row",
        "no such row",
        "B: frozenset({X})",
        "A: frozenset({Y})",
    ]
    nested = "T = {A: {'go': B}, B: {'go': C, 'stop': A}}"
    assert "B: 'go': C" in {mutant.before for mutant in transition_mutants("file.py", nested, "T")}
    texts = [mutant.write() for mutant in transition_mutants("file.py", nested, "T")]
    assert "T = {A: {'go': B}, B: {'stop': A}}" in texts
    assert "T = {A: {'go': A}, B: {'go': C, 'stop': A}}" in texts


@pytest.mark.parametrize("source", ["T = make()", "U = (1,)"])
def test_a_table_that_is_not_written_out_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match="table"):
        list(transition_mutants("file.py", source, "T"))
