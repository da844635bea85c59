"""The screens of an evening, read as people see them: each reader returns what its screen shows, as facts.

A fact has a name, such as ``round`` or ``t1 turn``, and a value. What a screen does not show is no fact of it, so the
facts of several screens, and what was published (:func:`published`), are compared name by name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from kit.browser import Browser

Facts = dict[str, Any]

SHIPS: Final = 5
#: Teams that lead together.
MOST_LEADERS: Final = 2

# --- what was published -----------------------------------------------------------------------------------------------


def published(tree: Mapping[str, bytes]) -> Facts:
    """Return what a tree of retained topics says, those that programs read."""
    evening = json.loads(tree.get("/game/league") or b"{}")
    facts: Facts = {}
    if evening:
        facts |= _evening(evening)
    for topic, payload in tree.items():
        if topic.endswith("/game/state") and payload:
            facts |= _table(tree, topic.removesuffix("/game/state"), payload.decode())
    status = json.loads(tree.get("/game/server") or b"{}")
    facts["online"] = status.get("status") == "online"
    return facts | _standings(tree)


def _standings(tree: Mapping[str, bytes]) -> Facts:
    rows = json.loads(tree.get("/game/standings") or b"{}").get("evening", {}).get("rows", ())
    return {"standings": tuple((row["place"], row["team"], round(row["points"] / 1000, 2)) for row in rows)}


def _evening(evening: Mapping[str, Any]) -> Facts:
    phase = evening["phase"]
    facts = {"phase": phase, "paused": phase == "break"} | {
        f"badge {k}": v for k, v in evening.get("badges", {}).items()
    }
    if not evening.get("name"):
        return facts
    rows = [(row["place"], row["team"], row["points"] / 1000) for row in evening["rows"]]
    facts |= {"league": evening["name"], "over": bool(evening.get("over"))}
    facts["league left"] = _left(evening.get("left")).removesuffix(" left")
    facts |= rows_of(rows)
    if not evening["round"]:
        facts["here"] = frozenset(team for _, team, _ in rows)
    facts["missing"] = frozenset(evening.get("missing", ()))
    facts["wins"] = frozenset((row["team"], row["games"], row["wins"]) for row in evening["rows"])
    if evening["round"]:
        facts["round"] = evening["round"]
        facts["rounds"] = evening.get("rounds")
        facts["matches"] = frozenset(_match(match) for match in evening["matches"])
        facts |= {f"match of {team}": match for match in facts["matches"] for team in match[0] if match[1] != "played"}
    return facts


def rows_of(rows: Iterable[tuple[int, str, float]]) -> Facts:
    """Return the facts of a league's table: place, team and points by line."""
    lines = tuple((place, team, round(points, 2)) for place, team, points in rows)
    if not lines:
        return {}
    facts: Facts = {f"row of {row[1]}": row for row in lines} | {f"place of {row[1]}": row[0] for row in lines}
    first = frozenset(team for place, team, _ in lines if place == 1)
    return facts | {"rows": lines, "first lines": lines[:3], "first": first}


def _match(match: Mapping[str, Any]) -> tuple[frozenset[str], str]:
    teams, places, table = match["teams"], match.get("places") or (), match.get("table")
    if len(teams) == 1:
        return frozenset(teams), "bye"
    if places:
        return frozenset(f"{place}. {team}" for place, team in zip(places, teams, strict=True)), "played"
    return frozenset(teams), "next" if table is None else table


def _left(seconds: int | None) -> str:
    if not seconds:
        return ""
    if seconds < 60:
        return "less than a minute left"
    minutes = round(seconds / 60)
    return f"about {f'{minutes} minutes' if minutes > 1 else 'a minute'} left"


def _table(tree: Mapping[str, bytes], prefix: str, state: str) -> Facts:
    def value(topic: str) -> Any:
        return json.loads(tree.get(f"{prefix}/game/{topic}") or b"null")

    at = prefix.removeprefix("/")
    names = json.loads(tree.get(f"{prefix}/players/list") or b"[]")
    turn, hosted, winner = value("turn"), value("hosted") or {}, tree.get(f"{prefix}/game/winner") or b""
    facts: Facts = {f"{at} state": state, f"{at} teams": frozenset(names)}
    facts[f"{at} paused"] = bool(hosted.get("paused"))
    if state == "lobby":
        return facts
    lost = {name: _sunk(tree, prefix, name) for name in names}
    out = frozenset(name for name in names if tree.get(f"{prefix}/players/{name}/defeated"))
    facts |= standing(at, {name: SHIPS - lost[name] for name in names}, out)
    if turn is not None:
        facts[f"{at} game"] = turn["game"]
    if state == "turn" and turn is not None:
        facts |= {f"{at} turn": turn["turn"], f"{at} to fire": turn["player"]}
    if state == "over" and winner:
        won = json.loads(winner) if winner.startswith(b"[") else [winner.decode().strip('"')]
        facts[f"{at} won"] = frozenset(won)
    return facts


def _sunk(tree: Mapping[str, bytes], prefix: str, name: str) -> int:
    ships = re.compile(rf"{re.escape(prefix)}/players/{name}/ships/[^/]+/sunk")
    return sum(bool(payload) for topic, payload in tree.items() if ships.fullmatch(topic))


def standing(at: str, afloat: Mapping[str, int], out: frozenset[str]) -> Facts:
    """Return how a game stands: who has how many ships, who is out, and who leads by how many."""
    facts: Facts = {f"{at} afloat": frozenset(afloat.items()), f"{at} out": out}
    left = {name: ships for name, ships in afloat.items() if name not in out}
    facts[f"{at} ships"] = sum(left.values())
    best = max(left.values(), default=0)
    first = frozenset(name for name, ships in left.items() if ships == best)
    by = best - max((ships for name, ships in left.items() if name not in first), default=best)
    facts[f"{at} leads"] = (first, by) if by and len(first) <= MOST_LEADERS else None
    return facts


# --- an explorer of topics, a terminal, a command ---------------------------------------------------------------------


def tree_read(tree: Mapping[str, bytes]) -> Facts:
    """Return what a person reads in a tree of topics: what is on, and the tables' lines."""
    facts = _evening(json.loads(tree["/game/league"])) | _standings(tree)
    facts["online"] = json.loads(tree["/game/server"])["status"] == "online"
    for topic, payload in tree.items():
        if topic.endswith("/game/headline"):
            at = topic.removesuffix("/game/headline").removeprefix("/")
            facts |= headline(at, payload.decode())
            facts[f"{at} state"] = tree[topic.replace("headline", "state")].decode()
            facts[f"{at} teams"] = frozenset(json.loads(tree[topic.replace("game/headline", "players/list")]))
    return facts


def headline(at: str, line: str) -> Facts:
    """Return what a table's line for people says."""
    facts: Facts = {f"{at} paused": line.endswith("; paused by the host")}
    line = line.removesuffix("; paused by the host")
    if (found := re.match(r"game (\d+), turn (\d+): (?:(\S+) to fire)?", line)) is not None:
        facts |= {f"{at} state": "turn", f"{at} game": int(found[1]), f"{at} turn": int(found[2])}
        if found[3]:
            facts[f"{at} to fire"] = found[3]
    elif (found := re.match(r"game (\d+) is over(?: after turn \d+)?: (\S+) wins?$", line)) is not None:
        facts |= {f"{at} state": "over", f"{at} game": int(found[1]), f"{at} won": frozenset([found[2]])}
    elif re.match(r"game \d+, lobby: ", line):
        facts[f"{at} state"] = "lobby"
    return facts


#: Of a league, also for a team that came too late to play.
_OVER: Final = r" is over: (?:stands|is below|has not played)"


def terminal_read(team: str, printed: str) -> Facts:
    """Return what the newest line about the league says at a team's terminal."""
    lines = [line for line in printed.splitlines() if re.search(rf", round \d+ of \d+: |{_OVER}", line)]
    line = lines[-1] if lines else ""
    facts: Facts = {}
    if (found := re.search(r"round (\d+) of (\d+)", line)) is not None:
        facts |= {"round": int(found[1]), "rounds": int(found[2])}
    if (found := re.search(r"plays (.+) at (?:table (\S+)|the default table)", line)) is not None:
        facts[f"match of {team}"] = (frozenset([team, *found[1].split(", ")]), found[2] or "")
    if (found := re.search(r"stands (\d+)\w\w of \d+ with ([0-9.]+) point", line)) is not None:
        facts[f"row of {team}"] = (int(found[1]), team, round(float(found[2]), 2))
    if re.search(_OVER, line):
        facts["over"] = True
    return facts


def show_read(printed: str) -> Facts:
    """Return what ``salvo league show --json`` says."""
    rows = json.loads(printed)["table"]
    return rows_of((row["place"], row["team"], row["points"]) for row in rows)


# --- pages ------------------------------------------------------------------------------------------------------------

_SEEN: Final = r"""
const shown = (each) => each && each.getClientRects().length > 0;
const text = (each) => (shown(each) ? each.innerText.replace(/\s+/g, " ").trim() : "");
const one = (query, home = document) => text(home.querySelector(query));
const all = (query, what = text, home = document) => [...home.querySelectorAll(query)].filter(shown).map(what);
const badgeOf = (each) => {
    const [symbol, use] = [each.querySelector("svg.badge"), each.querySelector("svg.badge use")];
    const colour = symbol && [...symbol.classList].map((name) => /^c(\d+)$/.exec(name)).find(Boolean);
    return symbol && colour ? 12 * Number(colour[1]) + Number(use.getAttribute("href").slice(2)) : null;
};
const nameIn = (each) => one(".name", each);
const teams = all(".team, .tile", (each) => [nameIn(each), badgeOf(each)]).filter(([name]) => name);
"""
_CARD: Final = r"""
const card = (card) => ({
    match: card.classList.contains("match"), title: one("h2 :first-child", card), about: one(".about", card),
    headline: one(".headline", card), players: all("li", (each) => ({ name: nameIn(each), place: one(".place", each),
        out: each.classList.contains("out"), won: each.classList.contains("won"),
        fires: each.classList.contains("fires"), pips: each.querySelectorAll(".afloat i").length,
        lost: each.querySelectorAll(".afloat i.lost").length }), card) });
"""
_HALL: Final = (
    _SEEN
    + _CARD
    + r"""
const row = (each) => ({ place: one(".place", each), name: nameIn(each), figures: all(":scope > span", text, each) });
return {
    teams, trouble: one("#trouble"), host: one("#host"), own: one("#own-line"), of: one("#of"), game: one("#game"),
    table: document.querySelector("#table").value, headline: one("#headline"), progress: one("#progress"),
    count: one("#roster-count"), games: one("#games h2"),
    roster: all("#roster > li", (each) => ({ name: nameIn(each), told: one(".placed", each) })),
    cards: all("#games .card", card),
    standings: all("#standings-list > li:not(.heads, .absent)", row),
    absent: all("#standings-list > .absent", (each) => (text(each).includes("not here yet") ? nameIn(each) : "")),
    standingsOf: one("#standings h2"),
    tiles: all(".tile", (each) => ({ name: nameIn(each), tag: one(".tag", each), figures: one(".figures", each),
        out: each.classList.contains("out"), lost: each.querySelectorAll(".ships .lost").length })),
    fallen: all("#fallen li", nameIn), state: document.body.dataset.state, cup: one("#end .cup"),
    steps: all("#end .step", (each) => [one(".place", each), all(".name", text, each), one(".block span", each)]),
    final: all("#end tbody tr", (each) => all("td", text, each)),
};"""
)
_TABLES: Final = _SEEN + _CARD + r"""return { teams, trouble: one("#trouble"), cards: all(".card", card) };"""
_HOST: Final = (
    _SEEN
    + r"""
return { trouble: one("#trouble"), phase: one("#phase"), needs: all("#needs li"), league: all("#league li"),
    tables: all("#tables > section", (each) => ({ title: one("h2", each), line: one(".line", each),
        teams: all("li", (team) => [one("strong", team), one(".what", team), one(".how", team)], each) })) };"""
)


def hall_read(window: Browser) -> Facts:
    """Return what the hall's page shows, also a team's; a tape's facts are those of its table, with ``tape`` before."""
    seen = window.run(_HALL)
    facts = _of_teams(seen["teams"]) | {"online": not seen["trouble"], "as of": seen["of"].partition(",")[0]}
    if seen["cup"]:  # its steps come one after the other, and then the table
        table = [(int(place), team, float(points)) for place, team, points, *_ in seen["final"] if place]
        steps = [
            (int(place), name, float(of.split()[0])) for place, names, of in seen["steps"] for name in names if name
        ]
        assert not table or set(steps) <= set(table), (steps, table)
        facts |= rows_of(table) if table else {f"place of {team}": place for place, team, _ in steps}
        return facts | {"over": True, "phase": "final", "league": seen["cup"]}
    if (found := re.fullmatch(r"(\S+): next game(?: at table (\S+))?(?: against (.+))?", seen["own"])) is not None:
        rivals = re.split(", | and ", found[3] or "")
        facts[f"match of {found[1]}"] = (frozenset([found[1], *filter(None, rivals)]), found[2] or "")
    facts |= _words(seen) | _roster(seen) | _games(seen)
    if seen["standings"]:
        figures = [each["figures"] for each in seen["standings"]]
        rows = tuple((int(each[0]), each[1], float(each[2])) for each in figures)
        if seen["standingsOf"].startswith("This evening"):
            facts["standings"] = rows
        else:
            facts |= rows_of(rows) | {
                "league": seen["standingsOf"].partition(": points")[0],
                "missing": frozenset(filter(None, seen["absent"])),
            }
            if all(len(each) > 3 for each in figures):  # the evening's page has points only
                facts["wins"] = frozenset((each[1], *map(int, each[3:5])) for each in figures)
    if seen["tiles"]:
        tape = re.match(r"tape(?: of Table (\S+))?,", seen["of"])
        at = seen["table"] if tape is None else tape[1] or seen["table"]
        game = _game(at, seen)
        facts |= game if tape is None else {f"tape {name}": value for name, value in game.items()}
        if tape is not None:
            facts["over at"] = seen["of"][-5:]
    return facts


def _words(seen: Mapping[str, Any]) -> Facts:
    """Return what the headline and the host's line say of the evening."""
    words = seen["headline"]
    for line in (seen["host"], words):
        if (found := re.match(r"(?:There is a b|B)reak(?: in round (\d+)(?: of (\d+))?)?(?::|$)", line)) is not None:
            of = {"round": int(found[1]), "rounds": found[2] and int(found[2])} if found[1] else {}
            return {"phase": "break", "paused": True} | of
    if (found := re.fullmatch(r"Round (\d+)(?: of (\d+))?(?: is over)?", words)) is not None:
        return {"round": int(found[1]), "rounds": int(found[2]), "paused": False}
    if (found := re.fullmatch(r"(.+) (?:begins soon|waits for its teams)", words)) is not None:
        return {"phase": "arrivals", "league": found[1]}
    return {}


def _roster(seen: Mapping[str, Any]) -> Facts:
    """Return what stands in the place of the boards: who is here."""
    if not seen["count"] or seen["of"].startswith("tape"):
        return {}
    missing = frozenset(each["name"] for each in seen["roster"] if each["told"] == "not here yet")
    here = frozenset(each["name"] for each in seen["roster"]) - missing
    if re.fullmatch(r"(\d+ of )?\d+ teams? here|Nobody is here yet", seen["count"]) and not seen["table"]:
        return {"here": here, "missing": missing}
    return {f"{seen['table']} teams": here, f"{seen['table']} state": "lobby"}


def _games(seen: Mapping[str, Any]) -> Facts:
    """Return what the games of a league's round show: those that are on, what is next, and what was played."""
    if not seen["cards"]:
        return {}
    facts: Facts = {}
    if (found := re.match(r"Round (\d+) of (\d+)", seen["games"])) is not None:
        facts |= {"round": int(found[1]), "rounds": int(found[2])}
    matches = []
    for card in seen["cards"]:
        told = card["title"].lower() if card["title"] in ("Played", "Next", "Bye") else _at(card["title"])
        if card["match"]:
            names = (f"{each['place']} {each['name']}".strip() for each in card["players"])
            matches.append((frozenset(names), told))
        if card["about"]:
            facts |= _card(card)
    return facts | {"matches": frozenset(matches)}


def _game(at: str, seen: Mapping[str, Any]) -> Facts:
    tiles = {each["name"]: each for each in seen["tiles"]}
    facts: Facts = {f"{at} teams": frozenset([*tiles, *seen["fallen"]]), f"{at} state": seen["state"]}
    if (found := re.match(r"game (\d+)", seen["game"])) is not None:
        facts[f"{at} game"] = int(found[1])
    if "The game is paused" in seen["headline"] or seen["headline"].startswith("Break"):
        facts[f"{at} paused"] = True
    if (found := re.fullmatch(r"(\S+) to fire \d+ shots?", seen["headline"])) is not None:
        facts[f"{at} to fire"] = found[1]
    out = frozenset([*seen["fallen"], *(name for name, each in tiles.items() if each["out"])])
    if seen["state"] == "turn" and all(re.match(r"\d", each["figures"]) for each in tiles.values()):
        afloat = {name: 0 if each["out"] else SHIPS - each["lost"] for name, each in tiles.items()}
        afloat |= dict.fromkeys(seen["fallen"], 0)
        facts |= {f"{at} afloat": frozenset(afloat.items()), f"{at} out": out}
    if (found := re.search(r"turn (\d+)", seen["progress"])) is not None:
        facts[f"{at} turn"] = int(found[1])
    if (found := re.search(r"(\d+) of \d+ ships afloat", seen["progress"])) is not None:
        facts[f"{at} ships"] = int(found[1])
    if (found := re.match(r"(.+?) leads? by (\d+) ship", seen["progress"])) is not None:
        facts[f"{at} leads"] = (frozenset(re.split(", | and ", found[1])), int(found[2]))
    facts[f"{at} left"] = next(iter(re.findall(r"· game: ([^·]* left)$", seen["progress"])), "")
    if (found := re.fullmatch(r"(\S+) wins(?: by .*)?", seen["headline"])) is not None:
        facts[f"{at} won"] = frozenset([found[1]])
    return facts


def tables_read(window: Browser) -> Facts:
    """Return what the page of all tables shows."""
    seen = window.run(_TABLES)
    facts = _of_teams(seen["teams"]) | {"online": not seen["trouble"]}
    for card in seen["cards"]:
        facts |= _card(card)
    return facts


def _card(card: Mapping[str, Any]) -> Facts:
    """Return what a table's card shows."""
    at = _at(card["title"])
    found = re.fullmatch(r"(lobby|playing|over|)(?:(?:, )?turn (\d+))?(?: · game (\d+))?", card["about"])
    assert found is not None, card["about"]
    state = {"playing": "turn", "": "turn"}.get(found[1], found[1])
    facts: Facts = {f"{at} state": state, f"{at} teams": frozenset(each["name"] for each in card["players"])}
    if found[2]:
        facts[f"{at} turn"] = int(found[2])
    if state != "lobby" and found[3]:
        facts[f"{at} game"] = int(found[3])
    if card["headline"]:
        facts[f"{at} paused"] = card["headline"] == "paused by the host"
    for player in card["players"]:
        if player["fires"]:
            facts[f"{at} to fire"] = player["name"]
    if won := frozenset(player["name"] for player in card["players"] if player["won"]):
        facts[f"{at} won"] = won
    if state == "turn" and all(each["pips"] for each in card["players"]):
        out = frozenset(each["name"] for each in card["players"] if each["out"])
        afloat = {each["name"]: each["pips"] - each["lost"] for each in card["players"]}
        facts |= {f"{at} afloat": frozenset(afloat.items()), f"{at} out": out}
    return facts


def host_read(window: Browser) -> Facts:
    """Return what the host's page shows."""
    seen = window.run(_HOST)
    facts: Facts = {"online": not seen["trouble"]}
    line = seen["phase"]
    facts["paused"] = line.startswith("break")
    if line.startswith("break"):
        facts["phase"] = "break"
    absent = next(
        (found[1] for need in seen["needs"] if (found := re.search(r"(\S.*?) ha(?:s|ve) not come yet", need))), ""
    )
    if re.search(r"before the first", line):
        facts["missing"] = frozenset(filter(None, absent.split(", ")))
    for pattern, phase in (
        (r"before the first", "arrivals"),
        (r"is over, the next", "between"),
        (r"podium", "final"),
        (r"^games without a league", "free"),
        (r"the evening is over", "over"),
    ):
        if re.search(pattern, line):
            facts.setdefault("phase", phase)
    if (found := re.search(r"round (\d+) of (\d+)", line)) is not None:
        facts |= {"round": int(found[1]), "rounds": int(found[2])}
        facts.setdefault("phase", "round")
    if (found := re.match(r"(?:break; )?(.+?)(?:: | is over)", line)) is not None:
        facts["league"] = found[1]
    if (found := re.search(r"([a-z0-9 ]+) left$", line)) is not None:
        facts["league left"] = found[1].strip()
    facts |= _league_lines(seen["league"])
    for table in seen["tables"]:
        facts |= dict(_hosted(table))
    return facts


def _league_lines(lines: Iterable[str]) -> Facts:
    matches, best = [], []
    for line in lines:
        if (found := re.fullmatch(r"(\d+)\. (\S+), ([0-9.]+) points?", line)) is not None:
            best.append((int(found[1]), found[2], round(float(found[3]), 2)))
        elif (found := re.fullmatch(r"(\S+) has a bye", line)) is not None:
            matches.append((frozenset([found[1]]), "bye"))
        elif (found := re.fullmatch(r"played: (.+)", line)) is not None:
            matches.append((frozenset(found[1].split(", ")), "played"))
        elif found := re.fullmatch(r"(.+): (?:at (?:the default table|(\S+))|waits for a table)", line):
            where = "next" if "waits" in line else found[2] or ""
            matches.append((frozenset(found[1].split(", ")), where))
        else:
            raise AssertionError(line)
    facts: Facts = {"matches": frozenset(matches)} if matches else {}
    return facts | ({"first lines": tuple(best)} if best else {})


def _hosted(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    found = re.fullmatch(r"(Main table|Table \S+) ?(.*)", table["title"])
    assert found is not None, table
    at = _at(found[1])
    yield from headline(at, table["line"]).items()
    yield f"{at} left", found[2]
    yield f"{at} teams", frozenset(name for name, _, _ in table["teams"])
    if " turn " in table["line"]:
        yield f"{at} out", frozenset(name for name, what, _ in table["teams"] if what == "out")
    for name, what, how in table["teams"]:
        if what == "thinking" and (turn := re.search(r"turn (\d+)", how)) is not None:
            yield f"{at} to fire", name
            yield f"{at} turn", int(turn[1])


def _at(title: str) -> str:
    return "" if title == "Main table" else title.removeprefix("Table ")


def _of_teams(teams: Iterable[tuple[str, int | None]]) -> Facts:
    return {f"badge {name}": badge for name, badge in teams if badge is not None}
