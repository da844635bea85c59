"""The cases: what is tried of a client, which requirement says so, and what to do about a failure."""

from __future__ import annotations

from typing import Final

from salvo.rules import BOOKS
from salvo_audit.check.results import Case, Grade

_ALL: Final[dict[str, Case]] = {}

#: What a client need not do at all; a case about it does not apply to one that never does.
UNUSED: Final[dict[str, str]] = {}


def _case(
    name: str,
    requirements: str,
    does: str,
    rule: str,
    cure: str,
    *,
    grade: Grade = Grade.MUST,
    claim: str = "",
    unused: str = "",
) -> None:
    """Add a case; ``unused`` says why it does not apply to a client that never comes to it."""
    named = tuple(f"SALVO-{each}" for each in requirements.split())
    _ALL[name] = Case(name, grade, named, does, rule, cure, claim)
    if unused:
        UNUSED[name] = unused


_SHOULD: Final = Grade.SHOULD
_ALWAYS: Final = "looks at every message and connection of every game"

# --- the connection -------------------------------------------------------------------------------------------------

_case(
    "mqtt/connects",
    "MQTT-1",
    "starts the client, with the broker's address in SALVO_URL",
    "the client connects with MQTT 3.1.1 or 5",
    "Connect to the address in SALVO_URL, or write {url}, {host} and {port} into the command.",
)
_case(
    "mqtt/subscribes",
    "GAME-6 MQTT-3",
    "waits for subscriptions",
    "the client subscribes to /game/state, itself or with a wildcard",
    "Subscribe after every connection: the state says what a client may do.",
)
_case(
    "mqtt/well-formed",
    "MQTT-1",
    _ALWAYS,
    "packets are as MQTT lays them down",
    "Use an MQTT library; at least one packet breaks the norm.",
)
_case(
    "mqtt/no-will",
    "ACCESS-6",
    "reads the CONNECT packet",
    "the client has no last will",
    "Leave the will out: brokers of contests refuse the connection.",
)
_case(
    "mqtt/user-is-team",
    "ACCESS-2 ACCESS-10",
    "reads the CONNECT packet",
    "the user is the team's name and the password its secret, or both are absent",
    "Log in with SALVO_TEAM and SALVO_SECRET: a contest admits nobody else.",
)
_case(
    "mqtt/one-connection",
    "ACCESS-4",
    "counts connections",
    "the client has one connection at a time",
    "Do everything on one connection: a newer one of the same user ends the older.",
)
_case(
    "mqtt/qos-publish",
    "MQTT-2",
    _ALWAYS,
    "every message has QoS 1",
    "Publish with QoS 1: QoS 0 may lose a shot, QoS 2 costs two more packets.",
)
_case(
    "mqtt/qos-subscribe",
    "MQTT-2",
    "reads the subscriptions",
    "every subscription has QoS 1",
    "Subscribe with QoS 1: with 0 the client may miss its turn.",
)
_case(
    "mqtt/no-retain",
    "FRESH-4 ACCESS-6",
    _ALWAYS,
    "no message has the retain flag",
    "Publish without the retain flag: a retained command is dropped.",
)
_case(
    "mqtt/only-known-topics",
    "ACCESS-1 ERR-3",
    _ALWAYS,
    "the client publishes only where the table of topics has a team",
    "Compare the topic with the table of topics in the protocol, character by character.",
)
_case(
    "mqtt/no-greedy-filter",
    "ACCESS-11",
    "reads the subscriptions",
    "no subscription has /game/request_participation",
    "Subscribe to the topics of /game one by one: /game/# delivers other teams' secrets on an unguarded broker.",
    grade=_SHOULD,
)
_case(
    "mqtt/acks",
    "MQTT-2",
    "waits, at the end of each scenario, for what the client has not acknowledged",
    "the client acknowledges every message",
    "Do not block the thread that reads: answer MQTT while a key is derived or a salvo is thought out.",
)
_case(
    "mqtt/takeover-no-war",
    "ACCESS-4",
    "ends the client's connection again and again, as a second program with the same user would",
    "the client waits before it connects again, a second on average",
    "Wait before you connect again, a second at first and longer after each connection that ends at once; set that in "
    "your library, if it connects again by itself. Two programs of one team else push each other out all day.",
    grade=_SHOULD,
)
_case(
    "mqtt/table-prefix",
    "TOPIC-1",
    "names a further table in SALVO_TABLE",
    "all topics begin with the table's name",
    "Put /NAME in front of every topic, those that are read and those that are written.",
    claim="tables",
)

# --- JSON -----------------------------------------------------------------------------------------------------------

_case(
    "wire/length",
    "WIRE-5",
    _ALWAYS,
    "a message has at most 4096 bytes",
    "Send one shot a message, and pad to a multiple of 96 bytes at most.",
)
_case(
    "wire/utf8", "WIRE-1", _ALWAYS, "JSON is encoded in UTF-8", "Encode all text as UTF-8, without a mark at its begin."
)
_case("wire/json", "WIRE-1", _ALWAYS, "messages with fields are JSON", "Write them with a JSON library.")
_case(
    "wire/depth", "WIRE-4", _ALWAYS, "JSON has at most 4 levels", "Send the fields of the message, not nested further."
)
_case("wire/keys-once", "WIRE-2", _ALWAYS, "no key appears twice in an object", "Write each key once.")
_case(
    "wire/integers",
    "WIRE-3",
    _ALWAYS,
    "numbers are integers, without point or exponent",
    "Convert to an integer before writing: some languages write 3 as 3.0.",
)

# --- blobs ----------------------------------------------------------------------------------------------------------

_case(
    "seal/base64",
    "SEAL-1",
    "decodes every blob strictly",
    "a blob is canonical base64 of the standard alphabet, with padding",
    "Use the standard alphabet with + and /, padding with =, no line breaks.",
)
_case(
    "seal/bare-blob",
    "SEAL-7",
    "reads every placement",
    "a placement's payload is the blob and nothing else",
    "Publish the base64 text itself: no JSON, no quotes, no line break.",
)
_case(
    "seal/length",
    "SEAL-6",
    "decodes every blob",
    "a blob decodes to 58 to 1024 bytes",
    "Seal the body's text alone, padded with spaces to a multiple of 96 bytes at most.",
)
_case(
    "seal/opens",
    "SEAL-1 SEAL-2 SEAL-3",
    "derives the key of the secret and opens every blob; if one does not open, tries what authors confuse",
    "a blob is salt, nonce and crypto_secretbox under Argon2id(secret, salt), opslimit 2, memlimit 64 MiB",
    "Compare each step with the examples of SALVO-SEAL-1 to 3: first the key, then the blob.",
)
_case(
    "seal/secret-in-utf8",
    "SEAL-2",
    "gives the client a secret with letters beyond ASCII",
    "the key is derived from the secret's UTF-8, not normalised",
    "Encode the secret as UTF-8 once, and derive the key from these bytes.",
)
_case(
    "seal/long-secret",
    "JOIN-3 SEAL-2",
    "gives the client a secret of 256 characters",
    "the key is derived from the whole secret",
    "Do not cut the secret: it has up to 256 characters.",
)
_case(
    "seal/signed-shape",
    "SEAL-4 FIRE-2",
    "reads every shot",
    "a shot is an object of `data` (or `payload`) with x and y, and `signature`",
    "Compare the message with the example of SALVO-SEAL-4.",
)
_case(
    "seal/body-equal",
    "SEAL-5",
    "compares the open body with the signed one",
    "both are equal, with equal types",
    "Seal the very object that you publish.",
)
_case(
    "seal/nonce-once",
    "FRESH-1 FRESH-2",
    "remembers all nonces of a scenario, over restarts of the client",
    "no nonce is used for two messages",
    "Draw 24 random bytes for every message, repetitions too.",
)
_case(
    "seal/one-salt",
    "FRESH-6",
    "counts salts",
    "the client uses one salt for a session",
    "Draw the salt once, at the start: each fresh one costs a key derivation, of which a team has 12.",
    grade=_SHOULD,
)

# --- joining --------------------------------------------------------------------------------------------------------

_case(
    "join/waits-for-state",
    "GAME-6",
    _ALWAYS,
    "nothing is published before /game/state has come",
    "Subscribe first, and act when the state is known.",
)
_case(
    "join/asks",
    "JOIN-1 JOIN-2",
    "opens a lobby",
    "the client asks to take part on /game/request_participation",
    "Publish the request when /game/state is lobby; what is retained may come in any order.",
)
_case(
    "join/request-shape",
    "JOIN-2 WIRE-4",
    "reads every request",
    "a request is an object of `name` and `secret`, both texts, and nothing else",
    "Compare the message with SALVO-JOIN-2.",
)
_case(
    "join/name",
    "NAME-1 NAME-2",
    "compares the name in the request with SALVO_TEAM",
    "the name is the team's, byte for byte",
    "Use SALVO_TEAM as it is.",
)
_case(
    "join/secret",
    "JOIN-3",
    "compares the secret in the request with SALVO_SECRET",
    "the secret is the team's, byte for byte",
    "Use SALVO_SECRET as it is.",
)
_case(
    "join/stops-when-listed",
    "JOIN-16",
    "lists the team and waits",
    "a listed team stops asking",
    "End the repetition once /players/list has the name.",
)
_case(
    "join/repeats",
    "JOIN-16",
    "loses the first two requests",
    "the client asks again, every 3 to 8 seconds",
    "Repeat the request until /players/list has the name: a full broker loses even what it has acknowledged.",
    grade=_SHOULD,
)
_case(
    "join/in-lobby-only",
    "JOIN-9 GAME-6",
    "lets others play when the client comes, and opens a lobby afterwards",
    "the client stops asking during the game, and asks in the lobby",
    "Ask in state lobby: during a game new teams are refused.",
)
_case(
    "join/name-taken",
    "JOIN-8 ERR-1",
    "answers the request with name_taken",
    "the client places and fires nothing",
    "Wait for the list: a team that is not in it plays no game.",
)
_case(
    "join/stranger-refused",
    "JOIN-8 ERR-7",
    "lets listed client read name_taken, and an error on /game/error, both of another's request",
    "the client plays on",
    "Ignore name_taken once the list has your name, and /game/error if you did not just ask.",
)
_case(
    "join/table-full",
    "JOIN-11",
    "answers the request with table_full, and opens the next lobby after a game of others",
    "the client asks again in the next lobby",
    "Stay subscribed: ask whenever /game/state becomes lobby.",
    grade=_SHOULD,
)
_case(
    "join/after-timeout",
    "JOIN-5",
    "takes the listed team from the list with placement_timeout, and opens the next lobby",
    "the client asks again in the next lobby and places a whole fleet",
    "Forget the fleet when the list has lost your name.",
    grade=_SHOULD,
)
_case(
    "join/leave-shape",
    "JOIN-15",
    "reads every leave",
    "a leave is a signed `{}` or has `g`, the game",
    "Compare the message with SALVO-JOIN-15.",
    unused="the client never left the lobby",
)
_case(
    "join/sealed",
    "IDENT-4 IDENT-5",
    "announces a key `seal` in /game/server",
    "the request is canonical base64 of a crypto_box_seal for that key",
    "Seal the text of the request for the key in /game/server.",
    claim="sealed",
)
_case(
    "join/sealed-for-the-new-key",
    "IDENT-4 BACK-4",
    "announces another key `seal` after the server was away",
    "the next request is sealed for the new key",
    "Read the key in /game/server before every request.",
    claim="sealed",
)

# --- placing --------------------------------------------------------------------------------------------------------

_case(
    "place/all-ships",
    "PLACE-1 JOIN-4",
    "lists the team",
    "within the placement time each ship of the rules is placed",
    "Place when /players/list has your name, be it the last of a hundred, and the state is lobby; look at the other "
    "failures first.",
)
_case(
    "place/own-topic",
    "PLACE-1 ACCESS-1",
    "reads every placement",
    "the topic has the team's own name",
    "Publish on /players/<your name>/ships/<ship>/place.",
)
_case(
    "place/known-ship",
    "NAME-4 NAME-5",
    "reads every placement",
    "the ship is one of the fleet in the rules",
    "The ships of `salvo` are carrier, battleship, destroyer, submarine and patrolboat.",
)
_case(
    "place/shape",
    "PLACE-2 WIRE-4",
    "opens every placement",
    'the text inside is {"coordinates": "<x>;<y>", "Orientation": "HORIZONTAL"} or VERTICAL, and nothing else',
    "Compare the text with SALVO-PLACE-2: Orientation has a capital O, and coordinates are one text.",
)
_case(
    "place/on-grid",
    "GAME-2 PLACE-3",
    "looks where ships are",
    "a ship is on the grid, counted from 1, from its smallest x and y to the right or down",
    "x is the column, y the row; a horizontal ship grows in x.",
)
_case(
    "place/no-overlap",
    "PLACE-4",
    "looks where ships are",
    "ships do not overlap",
    "Look for a free place before you send a ship.",
)
_case(
    "place/no-repeat",
    "PLACE-7",
    "approves the fleet and waits",
    "an approved fleet is not placed again",
    "A complete fleet is final; place once after you are listed.",
)
_case(
    "place/refused-late",
    "PLACE-9",
    "refuses a ship of the complete fleet with fleet_final, unretained",
    "the client does not place again",
    "fleet_final means that the server has your fleet.",
    grade=_SHOULD,
)
_case(
    "place/repairs",
    "PLACE-5 PLACE-7",
    "refuses one ship with overlap",
    "the client sends this ship again",
    "Read .../approved and .../error of each ship, and send a refused one again, in another place.",
    claim="repairs",
)
_case(
    "place/answer-lost",
    "JOIN-16 FRESH-1",
    "does not answer the placements",
    "after three seconds they come again, with fresh nonces",
    "Send a placement that is not answered again.",
    claim="resends",
)

# --- turns ----------------------------------------------------------------------------------------------------------

_case(
    "turn/fires-when-current",
    "TURN-4 TURN-5",
    "gives the client its turn",
    "a salvo comes before the deadline",
    "Fire when /game/current is your name and the state is turn.",
)
_case(
    "turn/count",
    "FIRE-3",
    "counts the shots of each turn",
    "a salvo has as many shots as the player had ships afloat when its turn began",
    "Count your ships in /players/<you>/ships/<ship>/sunk as a set; or take `shots` of /game/turn.",
)
_case(
    "turn/count-falls",
    "FIRE-3 TOPIC-4",
    "sinks ships of the client one by one",
    "each salvo has one shot less",
    "Apply what comes before /game/current before you count: ships that sank in the turn before have no shot.",
)
_case(
    "turn/count-own-ships",
    "FIRE-3",
    "announces that a rival's ship has sunk",
    "the client's salvo has as many shots as before",
    "Count your own ships only.",
)
_case(
    "turn/one-shot-a-message",
    "FIRE-1 FIRE-2",
    "reads every shot",
    "each shot is a message of its own",
    "Publish one message for each shot of the salvo.",
)
_case(
    "turn/on-grid",
    "GAME-2",
    "reads every shot",
    "x and y are from 1 to the width and height",
    "Count columns and rows from 1.",
)
_case(
    "turn/target-listed",
    "FIRE-4 NAME-2",
    "reads every shot",
    "the name in the topic is one of /players/list, in its spelling",
    "Fire on /players/<target>/fire, with the name as the list has it.",
)
_case(
    "turn/not-itself",
    "GAME-5 BOOK-6",
    "reads every shot",
    "the client does not fire at itself",
    "Leave your own name out when you choose a target.",
    grade=_SHOULD,
)
_case(
    "turn/not-the-defeated",
    "GAME-5",
    "defeats a rival of several",
    "the client fires at those who are left",
    "Read /players/<name>/defeated: nothing is left to hit there.",
    grade=_SHOULD,
)
_case(
    "turn/silent-otherwise",
    "FIRE-6",
    "lets rivals play",
    "no shot comes when it is another's turn or nobody's",
    "Fire once for each time that /game/current becomes your name; compare the whole name.",
)
_case(
    "turn/no-flood",
    "FRESH-8 ERR-4",
    "refuses what the client sends",
    "fewer than 1000 messages are refused",
    "Do not send a refused message again as it is; wait for the next turn.",
)
_case(
    "turn/current-alone",
    "TURN-4",
    "announces turns on /game/current only, as a server without additions does",
    "the client fires",
    "Do not wait for /game/turn: it is an addition.",
    claim="basics",
)
_case(
    "turn/refused",
    "FIRE-6 ERR-1",
    "refuses the shots of a turn with not_your_turn, and gives the client its next turn later",
    "the client stops, and fires in its next turn",
    "Wait for the next time that /game/current is your name.",
)
_case(
    "turn/timed-out",
    "TURN-5 ERR-1",
    "ends the client's turn with turn_timeout, and gives it the next one later",
    "the client fires in its next turn",
    "turn_timeout costs the shots of one turn, and nothing else.",
)
_case(
    "turn/same-player-again",
    "TURN-3 BOOK-2",
    "gives the client two turns in a row, because the rival between them has fallen",
    "the client fires in both",
    "Every message on /game/current is a turn, also if it has your name again.",
)
_case(
    "turn/announced-again",
    "BACK-2",
    "announces the same turn again with a new deadline, when the salvo is fired",
    "no shot comes that was not fired before",
    "A turn is known by its game and number; fire once for each.",
)
_case(
    "turn/void-rest",
    "FIRE-12",
    "ends the game in the middle of the client's salvo",
    "nothing fails, and no shot comes after the winner",
    "What was sent before the winner came is void, and is not answered.",
)
_case(
    "turn/context-right",
    "FRESH-5",
    "compares `g`, `t`, `n` and `to` of every shot",
    "all four are present, and match game, turn, number of the shot from 1, and target",
    "Take g and t from /game/turn; n counts the shots of the turn from 1.",
    unused="no shot had a context",
)
_case(
    "turn/context-always",
    "ACCESS-7",
    "plays a whole game",
    "every shot has `g`, `t`, `n` and `to`, as profile strict demands",
    "Write all four into the body of every shot.",
    claim="context",
)
_case(
    "turn/no-repetition-without-context",
    "FIRE-13",
    "announces nothing about the client's salvo for some seconds",
    "shots without game, turn, number and target do not come again",
    "A shot without a context must not be sent again: it would be another shot.",
)
_case(
    "turn/resends",
    "FIRE-13 FRESH-1",
    "loses a shot of the salvo",
    "after three seconds the salvo comes again, in order, with fresh nonces and the same numbers",
    "Send all shots of the turn again, newly signed, until their result arrives.",
    claim="resends",
)
_case(
    "turn/strangers-refusal",
    "ERR-2 SEAL-8",
    "lets the client read refusals of shots that a stranger has forged in its name",
    "the client plays on, with a whole salvo in its turn",
    "An error out of your turn is not about you.",
)
_case(
    "turn/skip-shape",
    "BOOK-7",
    "reads every skip",
    "a skip is a signed `{}` or has `g` and `t`",
    "Compare the message with SALVO-BOOK-7.",
    unused="the client never skipped a turn",
)
_case(
    "turn/skip-context",
    "BOOK-7",
    "compares `g` and `t` of every skip",
    "both match, or both are absent",
    "Take g and t from /game/turn.",
    unused="the client never skipped a turn",
)

# --- players and names ----------------------------------------------------------------------------------------------

_case(
    "players/three",
    "GAME-1 FIRE-4",
    "plays a game of three, in which one is defeated early",
    "the client plays on until the game is over",
    "A defeat ends the game for the defeated only; /game/winner ends it for all.",
)
_case(
    "players/eight",
    "GAME-1 FIRE-4",
    "plays a game of eight",
    "the client fires",
    "Read the list as it is: it has any number of names.",
)
_case(
    "players/hundred",
    "GAME-1 JOIN-10",
    "plays a game of a hundred",
    "the client fires",
    "Read messages of any length: this list has 1,300 bytes, and a hundred names.",
)
_case(
    "names/digits",
    "NAME-1 TOPIC-2",
    "has rivals called 2 and 007",
    "the client fires at them, and is silent in their turns",
    "Plain values are texts: do not read /game/current as JSON or as a number.",
)
_case(
    "names/words",
    "NAME-1 TOPIC-2",
    "has rivals called null, true and NaN",
    "the client fires at them, and is silent in their turns",
    "Plain values are texts: do not read /game/current as JSON.",
)
_case(
    "names/beginnings",
    "NAME-1 NAME-2",
    "has rivals whose names begin as the client's does",
    "the client is silent in their turns",
    "Compare whole names and whole topic levels.",
)
_case(
    "names/properties",
    "NAME-1",
    "has rivals called constructor, toString and hasOwnProperty",
    "the client fires at them, and is silent in their turns",
    "Keep players in a map, not in an object with a prototype.",
)
_case(
    "names/capitals",
    "NAME-2",
    "has rivals with capital letters, _ and -",
    "shots have the names as the list has them",
    "Brokers compare bytes: change no letter of a name.",
)
_case(
    "names/long",
    "NAME-1",
    "gives the client a name of 32 characters, and a rival, too",
    "the client plays",
    "Names have up to 32 characters.",
)
_case(
    "names/own-digit",
    "NAME-1",
    "gives the client the name 7",
    "the client plays",
    "A name is a text, also if it looks like a number.",
)

# --- reading --------------------------------------------------------------------------------------------------------

_case(
    "read/duplicates",
    "BACK-4 MQTT-2",
    "delivers every announcement but /game/current twice",
    "one whole salvo comes in each turn",
    "Keep sets of what has sunk and who is defeated, and count nothing.",
)
_case(
    "read/current-twice",
    "FIRE-6 MQTT-2",
    "delivers /game/current twice",
    "the client fires in this turn and in its next one, with the right number of shots",
    "Shots beyond the salvo are refused, which does no harm.",
)
_case(
    "read/unknown-fields",
    "VERSION-3",
    "adds fields to every announcement in JSON, at every depth",
    "the client plays on",
    "Ignore fields that you do not know: later minor versions add some.",
)
_case(
    "read/unknown-topics",
    "VERSION-3",
    "publishes texts and bytes on topics that do not exist yet",
    "the client plays on",
    "Ignore topics that you do not know.",
)
_case(
    "read/minor-version",
    "VERSION-2 VERSION-3",
    "announces the minor version 99",
    "the client plays",
    "Only the major version decides whether you can play.",
)
_case(
    "read/major-version",
    "VERSION-4",
    "announces the major version 2",
    "the client sends nothing",
    "End, and report why, if `protocol` of /game/server has another major version.",
    claim="versions",
)
_case(
    "read/no-server",
    "MQTT-5 VERSION-1",
    "announces no server and no rules at all, as the specification of the game has it",
    "the client plays",
    "/game/server and /game/rules are additions: do without them.",
    claim="basics",
)
_case(
    "read/json-spelling",
    "WIRE-1 TOPIC-2",
    "writes JSON with spaces, line breaks and escaped letters",
    "the client plays",
    "Read /players/list with a JSON library.",
)
_case(
    "read/unknown-error",
    "ERR-1 VERSION-2",
    "sends an error with a new code",
    "the client plays on",
    "An error is `<code>: <sentence>`; a code that you do not know needs no answer.",
)
_case(
    "read/large",
    "STAND-5 JOIN-12",
    "publishes standings of 64 KiB",
    "the client plays on",
    "Read messages of any length, or subscribe only to what you need.",
)
_case(
    "read/deep",
    "VERSION-3 WIRE-4",
    "publishes JSON that is 10,000 levels deep on a topic of a later version",
    "the client plays on",
    "Parse only topics that you know, and survive what cannot be parsed.",
    grade=_SHOULD,
)
_case(
    "read/chat",
    "CHAT-1",
    "lets others chat, with lines that look like commands",
    "the client plays on",
    "Chat changes nothing.",
)
_case(
    "read/late-result",
    "FIRE-11 MQTT-3",
    "repeats the result and the hits of an old turn in the client's next turn",
    "the client fires a whole salvo",
    "A result belongs to the turn that it names.",
)
_case(
    "read/cleared",
    "END-4",
    "clears the game with empty messages, and opens the next lobby",
    "nothing fails",
    "An empty payload clears the value: it is neither JSON nor a name.",
)
_case(
    "read/tie",
    "BOOK-8",
    "ends the game with a tie: /game/winner is an array of names",
    "nothing fails",
    "A winner that begins with [ is JSON: the names of those who share the first place.",
)
_case(
    "read/aborted",
    "HOST-5",
    "ends the game without a winner: /game/winner is []",
    "nothing fails",
    "[] is a winner, too: a host has aborted the game.",
)
_case(
    "read/host-pauses",
    "HOST-2 HOST-4",
    "lets a host pause the table, announce a line, and resume it",
    "the client is silent, and fires when it is its turn",
    "/game/hosted changes nothing that a client has to do.",
)
_case(
    "read/pause-after-result",
    "PACE-2 PACE-3",
    "makes a pause after each result, in which /game/current has the last player",
    "the client fires only when its turn begins",
    "A turn that has a result is over.",
)

# --- the end --------------------------------------------------------------------------------------------------------

_case(
    "end/no-shot-after-over",
    "END-1 FIRE-12",
    "ends games",
    "no shot comes when the game is over",
    "Stop when /game/winner or the state over has come.",
)
_case(
    "end/next-game",
    "END-4",
    "opens the next lobby after a game in which the client has lost ships (a client that has ended is started again)",
    "the client asks, places a whole fleet and fires five shots",
    "Forget sunk ships, defeated players and your fleet when their topics are cleared.",
)
_case(
    "end/defeated",
    "TURN-3 END-1",
    "defeats the client while two rivals play on",
    "the client is silent until the next lobby",
    "A player without ships has no turns.",
)

# --- absences -------------------------------------------------------------------------------------------------------

_BACK_CURE: Final = (
    "Connect again, after a second or two, subscribe again to everything, and take what is retained as the present: it "
    "comes in any order."
)


def _back(name: str, when: str, rule: str, cure: str = "") -> None:
    cure = f"{_BACK_CURE} {cure}".rstrip()
    _case(name, "MQTT-3 BACK-4", f"is a broker that goes away and comes back {when}", rule, cure)


_back(
    "back/before-asking",
    "before the team is listed",
    "the client comes back and asks",
    "Ask until /players/list has the name: a request that was on its way is lost.",
)
_back(
    "back/while-placing",
    "after the team is listed",
    "the client comes back, and its fleet is complete",
    "Then place again each ship whose topic .../approved is not true: a placement that was on its way is lost.",
)
_back("back/after-placing", "when the fleet is complete", "the client comes back and fires in its turn")
_back("back/in-rivals-turn", "in a rival's turn", "the client comes back and fires in its turn")
_back("back/in-own-turn", "in the client's turn", "the client comes back, and fires in this turn or in its next one")
_case(
    "back/when-over",
    "MQTT-3 END-4",
    "is a broker that goes away when the game is over, and comes back with the next lobby",
    "the client comes back and plays the next game, with all of its ships",
    "Forget the last game when the state is lobby: what was cleared while you were away is not repeated.",
)
_back(
    "back/session-lost", "in a rival's turn, without any session", "the client subscribes again and fires in its turn"
)
_case(
    "back/subscribes-again",
    "MQTT-3",
    "is a broker that comes back without any session",
    "the client subscribes again",
    "Subscribe after every connection, not only after the first.",
)
_case(
    "back/refused-then-admitted",
    "ACCESS-6 BACK-4",
    "is a broker that refuses connections for a while when it comes back, as one does that is not ready",
    "the client comes back",
    "Try again after a refusal if you were admitted before, with growing pauses.",
    grade=_SHOULD,
    claim="returns",
)
_case(
    "back/server-in-lobby",
    "BACK-4 MQTT-5",
    "announces that the server is offline, in the lobby, and then online",
    "the client's fleet is complete, and it fires in its turn",
    "While /game/server is offline nothing is answered; continue when it is online.",
)
_case(
    "back/server-in-game",
    "BACK-2 BACK-4",
    "announces that the server is offline in a game, then online, and repeats the turn with a new deadline",
    "the client fires in its turn, and not twice",
    "A turn is known by its game and number; its time begins again.",
)
_case(
    "back/paused",
    "BACK-3",
    "announces that the server is paused, because its disk is full, and then online",
    "the client plays on",
    "`paused` is as `offline`: wait.",
)
for _order in (
    "state-list-current",
    "state-current-list",
    "list-state-current",
    "list-current-state",
    "current-state-list",
    "current-list-state",
):
    _case(
        f"back/restart-{_order}",
        "MQTT-3 JOIN-7",
        f"lets a client that was started again in its turn receive what is retained in the order {_order}",
        "the client fires in this turn",
        "Act when you know state, list and current, whichever of them came last.",
    )
_case(
    "back/restart-with-losses",
    "FIRE-3 JOIN-7",
    "starts the client again in a game in which it has lost two ships",
    "the salvo has three shots",
    "What has sunk is retained: apply it before you count.",
)
_case(
    "back/restart-in-lobby",
    "JOIN-7 PLACE-7",
    "starts the client again after its fleet was approved, and begins the game",
    "the client fires in its turn",
    "The server has your fleet: a ship that you place again is refused, which does no harm.",
)
_case(
    "back/restart-with-old-winner",
    "END-4 MQTT-3",
    "starts the client when the last game of others is over, with all that is retained of it, and opens a lobby",
    "the client asks and places a whole fleet",
    "What is retained of a game that you did not play is not yours.",
)
_case(
    "back/recap-asked",
    "JOIN-7 JOIN-16",
    "ends the connection in a game and takes it again",
    "the client asks with the same secret, and reads the recap",
    "Ask to take part again after an absence: the recap has all that you have missed.",
    claim="recap",
)
_case(
    "back/recap-forged",
    "SEAL-10",
    "sends the restarted client a recap under the team's own key, as a stranger might replay one of its messages",
    "the client does not believe it, and fires at players of the table",
    "Open recaps with the key of SALVO-SEAL-10 only.",
    claim="recap",
)
_case(
    "back/recap-old",
    "JOIN-14",
    "sends a recap of an earlier turn after the newer one",
    "the client plays on where the game is",
    "Of two recaps the one with the lower game, turn or number of shots is older.",
    claim="recap",
)

# --- security -------------------------------------------------------------------------------------------------------

_case(
    "sec/secret-stays-secret",
    "JOIN-2 SEAL-7",
    _ALWAYS,
    "the secret is in no message but the request",
    "Publish the secret nowhere else: everybody reads what is published.",
)
_case(
    "sec/other-key",
    "IDENT-2",
    "starts the client at the same address with another key `sign`",
    "the client sends no secret to the impostor",
    "Pin the key `sign` at the first contact, and compare it at every later one.",
    claim="keys",
)

# --- chat and log ---------------------------------------------------------------------------------------------------

_case(
    "chat/shape",
    "CHAT-1 CHAT-3",
    "reads every chat line of the client",
    "a line is an object of `text`, with `to` for one player",
    "Compare the message with SALVO-CHAT-1.",
    unused="the client never chats",
)
_case(
    "log/resend-shape",
    "LOG-12",
    "reads every request for the log",
    'a request is {"log": n}',
    "Compare the message with SALVO-LOG-12.",
    unused="the client never asks for the log",
)
_case(
    "log/forged",
    "LOG-2 VERSION-3",
    "publishes an entry of the log that nobody has signed",
    "the client plays on",
    "An entry with a wrong signature says nothing about the server: anybody may have sent it on an open broker.",
    grade=_SHOULD,
)

_case(
    "log/contradiction",
    "LOG-4 LOG-11",
    "signs two different entries of the log with one number, as a server does that shows different histories",
    "the client reports it, or ends",
    "Keep the hash of the last entry, and show both entries to your user: nobody but the server can have signed them.",
    claim="log",
)

for _book in BOOKS:
    _case(
        f"whole/{_book}",
        "END-1 BOOK-1" if _book != "salvo" else "END-1 GAME-1",
        f"lets the contest server play a whole game by the ruleset {_book} with the client and a built-in bot",
        "nothing that the client sends is refused or comes too late, and the game has a winner",
        "The error says what was wrong; /game/rules has what a ruleset changes.",
        claim="" if _book == "salvo" else _book,
    )

CASES: Final = dict(_ALL)

#: What a client may claim beyond what every client has to do, and what that is.
CLAIMS: Final = {
    "basics": "it needs nothing that the specification of the game does not have: no /game/turn, rules or server",
    "context": "its shots have game, turn, number and target, as profile strict demands",
    "log": "it follows the server's signed log, and reports when that contradicts itself",
    "keys": "it pins the server's key",
    "recap": "it asks for the recap when it comes back, and uses it",
    "repairs": "it places a refused ship again",
    "resends": "it sends again what is not answered",
    "returns": "it comes back after a refused connection",
    "sealed": "it seals its request for the server's key",
    "tables": "it plays at the table that SALVO_TABLE names",
    "versions": "it ends at a server of another major version",
} | {name: f"it plays by the ruleset {name}" for name in BOOKS if name != "salvo"}

#: What ``all`` stands for: what the protocol adds. ``basics`` says that a client gets by without that, which the
#: protocol demands of none, because each of its servers publishes all of it.
ADDITIONS: Final = frozenset(CLAIMS) - {"basics"}
