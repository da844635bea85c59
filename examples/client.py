"""A complete client without an SDK, on paho-mqtt and PyNaCl: `python client.py HOST PORT NAME SECRET`.

It plays one game: it joins, places its ships, fires at cells drawn at random, and prints the winner.
"""

import base64
import json
import random
import sys
import threading
import time

import nacl.pwhash
import nacl.secret
import nacl.utils
import paho.mqtt.client as mqtt

FLEET = {"carrier": 5, "battleship": 4, "destroyer": 3, "submarine": 3, "patrolboat": 2}

host, port, me, secret = sys.argv[1:5]
salt = nacl.utils.random(16)
box = nacl.secret.SecretBox(nacl.pwhash.argon2id.kdf(32, secret.encode(), salt, opslimit=2, memlimit=2**26))
topics = "/players/list", "/player/#", "/game/state", "/game/winner", "/game/current", f"/players/{me}/ships/+/approved"
latest = {}  # the last message of each topic: after a reconnection, repeated messages change nothing
placed = set()  # the ships whose places were sent
fired = set()  # the cells of all salvos


def blob(body):
    return base64.b64encode(salt + box.encrypt(json.dumps(body).encode())).decode()


def players():
    return json.loads(latest.get("/players/list") or "[]")


def join():
    """Send requests until the list has this name: a full broker may lose a request that it acknowledged."""
    while latest["/game/state"] == "lobby" and me not in players():
        client.publish("/game/request_participation", json.dumps({"name": me, "secret": secret}), qos=1)
        time.sleep(random.uniform(3, 8))


def place_fleet():
    """Place each ship in a row of its own, so that no two ships overlap."""
    for number, (ship, length) in enumerate(FLEET.items(), start=1):
        if ship not in placed and latest.get(f"/players/{me}/ships/{ship}/approved") != "true":
            placed.add(ship)
            x, y = random.randint(1, 11 - length), 2 * number
            place = {"coordinates": f"{x};{y}", "Orientation": "HORIZONTAL"}
            client.publish(f"/players/{me}/ships/{ship}/place", blob(place), qos=1)


def fire_salvo():
    """Fire one shot for each ship afloat, at new cells first."""
    afloat = [ship for ship in FLEET if not latest.get(f"/player/{me}/ships/{ship}/sunk")]
    rivals = [name for name in players() if name != me and not latest.get(f"/player/{name}/defeated")]
    cells = [(name, x, y) for name in rivals for x in range(1, 11) for y in range(1, 11)]
    cells.sort(key=lambda cell: (cell in fired, random.random()))
    for target, x, y in cells[: len(afloat)]:
        fired.add((target, x, y))
        shot = {"data": {"x": x, "y": y}, "signature": blob({"x": x, "y": y})}
        client.publish(f"/players/{target}/fire", json.dumps(shot), qos=1)


def on_connect(client, userdata, flags, reason, properties):
    if reason.is_failure:
        sys.exit(f"the broker refuses the connection: {reason}")
    client.subscribe([(topic, 1) for topic in topics])


def on_message(client, userdata, message):
    latest[message.topic] = message.payload.decode()
    if message.topic == "/game/state":
        placed.clear()  # a lobby or a connection is new: the server may lack what was sent before
        threading.Thread(target=join, daemon=True).start()
    state = latest.get("/game/state") if me in players() else ""  # list and state arrive in any order
    if state == "lobby":
        place_fleet()
    if state == "turn" and latest.get("/game/current") == me:
        del latest["/game/current"]  # one salvo for each announcement of a turn
        fire_salvo()
    if state and (winner := latest.pop("/game/winner", "")):
        print("winner:", winner)
        client.disconnect()


client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
client.on_connect, client.on_message = on_connect, on_message
client.username_pw_set(me, secret)
client.connect(host, int(port))
client.loop_forever()  # reconnects after a second, then after longer and longer pauses
