"""What must hold, whatever went wrong."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from salvo import messages as m
from salvo.codec.announcements import RESULT
from salvo.codec.header import Header
from salvo.codec.log import OF_BYTES, Opening, entry_digest
from salvo.codec.log_reader import LogChain, read_entry, take_apart
from salvo.join.session import Session
from salvo.messages import State
from salvo.rules import Announce, Order, Sinkings
from salvo.rules.game import Game
from salvo.view import Shot, View
from salvo_game.journal_interface import Result, result_of, when
from salvo_game.log import GameLog, game_secret
from salvo_game.log_verification import verify_lines
from salvo_game.match import Player
from salvo_game.recovery import execute_step, open_table
from salvo_game.referee import Referee
from salvo_game.table_step import Step
from salvo_server.storage.identity import Identity
from simulation.disk import every_game
from simulation.world import Broken

if TYPE_CHECKING:
    from simulation.actors import Team
    from simulation.game import Contest

#: What stays retained after a reset (SALVO-END-4).
_STAYS = {"/game/state", "/game/rules", "/game/server", "/game/league", "/players/count", "/players/list"}


def hold(condition: bool, text: str, *given: object) -> None:
    """Raise unless a condition holds."""
    if not condition:
        raise Broken(text % given)


# --- while a result stands ------------------------------------------------------------------------------------------


def when_over(contest: Contest) -> None:
    """Check a game that is over, when all has settled."""
    referee = contest.server.referee
    game = referee.game
    assert game is not None
    contest.statistics["games"] += 1
    contest.statistics["shots"] += sum(len(player.shots) for player in referee.match.players.values())
    _retained(contest)
    results = _results(referee)
    _stream(contest.announced, referee, results, "the broker")
    if not contest.broker.lossy:
        _stream(contest.observer.received, referee, results, "the observer")
        _chain(contest.observer.received)
    _log(contest.announced, referee, "the broker")
    for team in contest.teams:
        player = referee.match.players.get(team.name)
        if player is None:
            only_lost = not contest.scenario.hosted and all(f.action == "lose" for f in contest.world.happened)
            hold(not only_lost, "%s was left in the lobby", team.name)
            contest.statistics["teams that came too late"] += 1
            continue
        _view(team.session, player, referee)
        _reported(team, referee)
        _shots(contest, team, player, referee)
        _whole_log(contest, team, referee)


def _whole_log(contest: Contest, team: Team, referee: Referee) -> None:
    """Every team has the whole log by now, whatever it missed, and found nothing wrong with it (SALVO-LOG-12)."""
    games = [game for game in team.session.witness._games if game.number == referee.number]
    hold(len(games) == 1, "%s knows %d logs of game %d", team.name, len(games), referee.number)
    lacks = "%s lacks entries from %d on of %d"
    hold(games[0].whole, lacks, team.name, games[0].chain.next_number, len(contest.server.service.play.logs[""]))
    contest.statistics["requests for the log"] += team.edge.asked


def _retained(contest: Contest) -> None:
    table = contest.server.service.tables[""]
    stored, own = contest.broker.retained, {**table.retained, **contest.server.service.play.retained}
    for topic in sorted(stored.keys() | own.keys()):
        hold(
            stored.get(topic) == own.get(topic), "retained at %s: %s, not %s", topic, stored.get(topic), own.get(topic)
        )


def _results(referee: Referee) -> list[bytes]:
    return [RESULT.write(result) for result in referee.results]


@lru_cache(maxsize=1024)
def _read(payload: bytes) -> dict[str, Any]:
    return dict(json.loads(payload))


def _stream(received: Sequence[tuple[str, bytes]], referee: Referee, expected: Sequence[bytes], who: str) -> None:
    """Everything was announced, in order of first appearance, and nothing else (SALVO-TOPIC-4)."""
    numbers = {body: number for number, body in enumerate(expected)}
    known, hits, turns = 0, b"", {0: ""}
    landed: dict[str, list[tuple[int, int]]] = {name: [] for name in referee.players}
    started = False
    for topic, payload in received:
        if topic == "/game/hits":
            hits = payload
        elif topic == "/game/result" and payload:
            body = _read(payload)
            if body["game"] != referee.number:
                continue
            number = numbers.get(payload)
            hold(number is not None, "%s heard a result that the referee does not know: %s", who, payload)
            assert number is not None
            hold(number <= known, "%s heard turn %d's result before turn %d's", who, number + 1, known + 1)
            if number == known:
                hold(hits == b"%d" % body["hits"], "%s heard %s hits of turn %d: %s", who, hits, known + 1, payload)
                known += 1
        elif topic == "/game/turn" and payload:
            body = _read(payload)
            if body["game"] != referee.number:
                continue
            started = True
            turn, player = body["turn"], body["player"]
            hold(turns.setdefault(turn, player) == player, "%s heard of two players in turn %d", who, turn)
            ahead = len(referee.players) if referee.book.order is Order.ROUNDS else 1
            hold(turn <= known + ahead, "%s heard of turn %d before turn %d's result", who, turn, known + 1)
        elif topic == "/game/current" and payload and started:
            hold(payload.decode() in turns.values(), "%s heard of a current player %s without a turn", who, payload)
        elif topic.endswith("/hit") and started:
            cell = _read(payload)
            landed[topic.split("/")[2]].append((cell["x"], cell["y"]))
    hold(known == len(expected), "%s heard %d results of %d", who, known, len(expected))
    unfinished = len(turns) - 1 - len(expected)
    most = 0 if referee.match.game.over else len(referee.players) if referee.book.order is Order.ROUNDS else 1
    hold(0 <= unfinished <= most, "%s heard of %d turns of %d", who, len(turns) - 1, len(expected))
    for name, player in referee.match.players.items():
        hold(_covers(landed[name], player.landed), "%s heard other hits on %s than fell", who, name)


def _log(received: Sequence[tuple[str, bytes]], referee: Referee, who: str) -> None:
    """The log of the game is one story, whole, in order and fair, over all crashes (SALVO-LOG)."""
    announced: dict[tuple[str, int], bytes] = {}
    logged: set[bytes] = set()
    number = 0
    of = ""
    opening: Opening | None = None
    for topic, payload in received:
        if topic != "/game/log":
            continue
        text, _ = take_apart(payload)
        entry = read_entry(text)
        if isinstance(entry.body, Opening):
            number = entry.body.game
            known, of = of, entry_digest(text)[:OF_BYTES].hex()
            if announced and number == referee.number and known != of:
                empty = announced.keys() == {(known, 0)}
                hold(empty and _only_settings_differ(opening, entry.body), "%s heard game %d opened twice", who, number)
                announced.clear()
            opening = entry.body
        again = payload in logged
        logged.add(payload)
        if number != referee.number:
            continue
        if entry.of not in ("", of):  # the end of the game before comes again after a crash
            hold(again, "%s heard an entry of another game", who)
            continue
        first = announced.setdefault((of, entry.number), payload)
        hold(first == payload, "%s heard two entries %d of game %d", who, entry.number, number)
        hold(entry.number <= len(announced), "%s heard entry %d after %d entries", who, entry.number, len(announced))
    lines = [payload + b"\n" for payload in announced.values()]
    report = verify_lines(iter(lines), f"the log that {who} heard")
    hold(report.finding is None, "%s", report.finding)
    hold(report.games[0].players == tuple(referee.players), "%s heard of other players in the log", who)


def _only_settings_differ(one: Opening | None, other: Opening) -> bool:
    """Whether an empty lobby may have been opened again like this: a fair draw's secret stays (SALVO-BACK-6)."""
    assert one is not None
    return one.seed == other.seed or m.Draw.SEED in (one.draw, other.draw)


def _chain(received: Sequence[tuple[str, bytes]]) -> None:
    """A client that follows the log never has a reason to complain."""
    chain = LogChain()
    for payload in dict.fromkeys(payload for topic, payload in received if topic == "/game/log"):
        chain.take_in(payload)  # once: after a crash, the end of a game may come again


def _covers(received: Sequence[tuple[int, int]], landed: Sequence[tuple[int, int]]) -> bool:
    """Whether what fell is what was heard, in order and perhaps with repetitions between."""
    rest = iter(received)
    return all(cell in rest for cell in landed) and set(received) == set(landed)


def _view(session: Session, player: Player, referee: Referee) -> None:
    """A team knows just what it may know."""
    view, name, game = session.view, player.name, referee.game
    hold(view is not None, "%s has no view of the game", name)
    assert view is not None
    assert game is not None
    facts: list[tuple[str, Any, Any]] = [
        ("game", view.game, referee.number),
        ("fleet", view.fleet.placements, game.fleets[player.seat].placements),
        ("players", view.players, tuple(referee.players)),
        ("results", [tuple(r)[:5] for r in view.results], [tuple(r)[:5] for r in referee.results]),
        ("defeated", view.defeated, _fallen(referee, game)),
        ("incoming", view.incoming, player.landed),
        ("salvos", _salvos(view), _own_salvos(player, referee)),
        ("untouched", set(view.untouched), _untouched(view, player, referee)),
        ("winners", view.winners, tuple(list(referee.players)[seat] for seat in game.winners)),
    ]
    if not game.over:  # aborted: of the turn that was going on, the team knows at most its own shots
        facts = [fact for fact in facts if fact[0] not in ("defeated", "untouched")]
        facts.append(("defeated", view.defeated, tuple(name for each in referee.results for name in each.defeated)))
    if view.rules.sinkings is Sinkings.TOLD:
        facts.append(("sunk", view.sunk, _sunk(referee)))
        if game.over:
            facts.append(("afloat", view.ships_afloat, _afloat(referee, game)))
    if view.rules.announce is Announce.CELLS:
        facts += [
            ("marks", view.marks(name), other.seen) for name, other in referee.match.players.items() if other != player
        ]
    for what, seen, truth in facts:
        hold(seen == truth, "%s's view, %s: %s, not %s", name, what, *_difference(seen, truth))


def _difference(one: Any, other: Any) -> tuple[Any, Any]:
    """Leave out what two lists or sets have in common, so that a person sees the rest."""
    if isinstance(one, set):
        return one - other, other - one
    if isinstance(one, list):
        same = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
        return f"from {same} on {one[same:][:4]}", other[same:][:4]
    return one, other


def _sunk(referee: Referee) -> dict[str, tuple[str, ...]]:
    sunk: dict[str, tuple[str, ...]] = dict.fromkeys(referee.players, ())
    for result in referee.results:
        for ship in result.sunk:
            sunk[ship.player] += (ship.ship,)
    return sunk


def _afloat(referee: Referee, game: Game) -> dict[str, int]:
    return {name: game.afloat[player.seat] for name, player in referee.match.players.items()}


def _fallen(referee: Referee, game: Game) -> tuple[str, ...]:
    names = list(referee.players)
    return tuple(names[seat] for seat in game.fallen)


def _salvos(view: View) -> list[tuple[int, list[Shot]]]:
    return [(salvo.turn, list(salvo.shots)) for salvo in view.salvos]


def _own_salvos(player: Player, referee: Referee) -> list[tuple[int, list[Shot]]]:
    return [
        (result.turn, [Shot(s.target, s.x, s.y) for s in player.shots if s.turn == result.turn])
        for result in referee.results
        if result.player == player.name
    ]


def _untouched(view: View, player: Player, referee: Referee) -> set[Shot]:
    grid = view.rules.grid
    seen = referee.match.players.values() if view.rules.announce is Announce.CELLS else [player]
    fired = {(shot.target, shot.x, shot.y) for each in seen for shot in each.shots}
    cells = [grid.xy(cell) for cell in range(grid.size)]
    return {Shot(rival, x, y) for rival in view.opponents for x, y in cells if (rival, x, y) not in fired}


def _reported(team: Team, referee: Referee) -> None:
    """The bot learnt how it ended; one that was started again after the end does not count the game."""
    game, number = referee.game, referee.number
    assert game is not None
    winner = list(referee.players)[game.winners[0]] if len(game.winners) == 1 else ""
    ends = [end for end in team.ends if end.game == number]
    hold(len(ends) == 1, "%s learnt %d times how game %d ended", team.name, len(ends), number)
    [end] = ends
    hold(end.winner == winner, "%s learnt that %s won, not %s", team.name, end.winner, winner)
    hold(end.aborted != game.over, "%s learnt that game %d was aborted", team.name, number)
    hold(set(end.stats) == set(referee.players), "%s learnt the figures of %s", team.name, set(end.stats))
    hold(not end.missed or team.incarnation > 1, "%s was there, and missed the end of game %d", team.name, number)
    counted = [report for report in team.contestant.reports if report.game == number]
    hold(len(counted) == int(not end.missed), "%s counted game %d %d times", team.name, number, len(counted))


def _shots(contest: Contest, team: Team, player: Player, referee: Referee) -> None:
    """What the bot chose was accepted once, or it is plain why not."""
    chosen: dict[int, list[tuple[str, int, int]]] = {}
    for choice in team.choices:
        if choice.game == referee.number:
            chosen.setdefault(choice.turn, []).extend(choice.shots)
    given_up = {choice.turn for choice in team.choices if choice.game == referee.number and not choice.shots}
    accepted: dict[int, list[tuple[str, int, int]]] = {}
    for shot in player.shots:
        accepted.setdefault(shot.turn, []).append((shot.target, shot.x, shot.y))
    last = referee.results[-1].turn if referee.results else 0
    for result in referee.results:
        if result.player != team.name:
            continue
        wanted, got = chosen.get(result.turn, []), accepted.get(result.turn, [])
        doubled = Counter(got) - Counter(wanted)
        hold(not doubled, "turn %d: %s's shots were accepted and never chosen: %s", result.turn, team.name, doubled)
        if result.turn in referee.match.cut_short:
            contest.statistics["turns that ran out"] += 1
            hold(
                result.turn in given_up or not contest.scenario.strict, "turn %d of %s ran out", result.turn, team.name
            )
        elif result.turn != last:
            lost = [shot for shot in wanted if shot not in got]
            if lost:
                contest.statistics["salvos of a team that crashed in it"] += 1
            hold(not lost or team.incarnation > 1, "turn %d: %s's shots %s are lost", result.turn, team.name, lost)


def _paced(step: Step, pace_ms: int, may_begin: int) -> int:
    """Hold that no turn begins in a pause (SALVO-PACE-1); return from when on the next one may, 0 while one is on."""
    results = sum(isinstance(each, m.SalvoResolved) for each in step.announcements)
    begins = any(isinstance(each, m.TurnBegan) for each in step.announcements)
    hold(not begins or step.at >= may_begin, "a turn began at %d, before %d", step.at, may_begin)
    hold(not (begins and results and pace_ms), "a turn began with the result before it")
    if begins:
        return 0
    if may_begin and isinstance(step.command, m.Resumed):
        return step.at + pace_ms
    return step.at + results * pace_ms if results else may_begin


# --- at the very end ------------------------------------------------------------------------------------------------


def at_the_end(contest: Contest) -> None:
    """Check what is left when the last game was forgotten."""
    _retained(contest)
    left = set(contest.broker.retained) - _STAYS
    hold(not left, "after the reset there is still %s", left)
    proofs: set[bytes] = set()
    logged = {take_apart(payload)[0] for topic, payload in contest.announced if topic == "/game/log" and payload}
    live = contest.server.service.tables[""]
    games = every_game(contest.disk)
    results: list[Result | None] = []
    newest = max((game.opened.id for game in games), default=0)
    for game in games:
        table = open_table(game, live._status)
        header, steps, may_begin = table.header, [], 0
        for number, record in enumerate(game.steps, start=1):
            if record.proof is not None:
                hold(record.proof.nonce not in proofs, "record %d: a nonce was accepted twice", record.id)
                proofs.add(record.proof.nonce)
            steps.append(execute_step(table, game, number, record))
            if not contest.scenario.hosted:  # whose host may end a pause, or remove who is next
                may_begin = _paced(steps[-1], header.limits.pace_ms or 0, may_begin)
        announced = [(step.at, step.announcements) for step in steps]
        results += [result_of("", header.game, at, header.rules.book.name, each) for at, each in announced]
        if steps:
            texts = _log_texts(header, steps, contest.server.identity)
            hold(logged.issuperset(texts), "the journal's log of game %d is another one than was said", header.game)
        last = game.opened.id == newest  # one before it may have its number: a lobby in which nothing had happened
        hold(
            last or not game.steps or table.referee.number == game.opened.number + 1,
            "game %d did not end",
            game.opened.number,
        )
        if last:
            hold(table.check == live.check, "a replay of the journal comes out otherwise")
            hold(table.referee.state is State.LOBBY, "the last game is in state %s", table.referee.state)
    wanted = sorted(filter(None, results), key=when)
    hold(contest.server.journal.results() == wanted, "the journal has other results than its games came to")


def _log_texts(header: Header, steps: Sequence[Step], identity: Identity) -> list[bytes]:
    """Return a game's log as it follows from the journal; what was said is verified where it is heard."""
    log = GameLog(header, identity.signing_key, game_secret(header, identity.sign))
    for step in steps:
        log.take_in(step)
    return log.entries
