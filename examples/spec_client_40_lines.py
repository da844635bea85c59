"""A client without any SDK: paho-mqtt and PyNaCl. Call it with HOST PORT NAME SECRET."""
import base64, json, random, sys, threading, time
import nacl.pwhash, nacl.secret, nacl.utils, paho.mqtt.client as mqtt

host, port, me, secret = sys.argv[1:5]
fleet = {"carrier": 5, "battleship": 4, "destroyer": 3, "submarine": 3, "patrolboat": 2}
salt = nacl.utils.random(16)
box = nacl.secret.SecretBox(nacl.pwhash.argon2id.kdf(32, secret.encode(), salt, opslimit=2, memlimit=2**26))
topics = "/players/list", "/player/#", "/game/state", "/game/winner", "/game/current", f"/players/{me}/ships/+/approved"
news, fired, placed = {}, set(), set()  # news: what each topic said last, so nothing counts twice when it comes again

def blob(body): return base64.b64encode(salt + box.encrypt(json.dumps(body).encode())).decode()
def players(): return json.loads(news.get("/players/list") or "[]")

def ask():  # until the list has the name: a full broker may lose even what it has acknowledged
    while news["/game/state"] == "lobby" and me not in players():
        client.publish("/game/request_participation", json.dumps({"name": me, "secret": secret}), qos=1)
        time.sleep(random.uniform(3, 8))

def on_connect(client, _, flags, reason, more):
    sys.exit(f"not let in: {reason}") if reason.is_failure else client.subscribe([(topic, 1) for topic in topics])

def on_message(client, _, message):
    news[message.topic] = message.payload.decode()
    if message.topic == "/game/state":
        placed.clear()  # a new lobby, or a new connection: what was on its way may be lost
        threading.Thread(target=ask, daemon=True).start()
    state = news.get("/game/state") if me in players() else ""  # it takes both, in whatever order they come
    for (ship, cells), row in zip(fleet.items(), range(2, 11, 2)):  # every second row, so that no two ships overlap
        if state == "lobby" and ship not in placed and news.get(f"/players/{me}/ships/{ship}/approved") != "true":
            placed.add(ship)
            place = blob({"coordinates": f"{random.randint(1, 11 - cells)};{row}", "Orientation": "HORIZONTAL"})
            client.publish(f"/players/{me}/ships/{ship}/place", place, qos=1)
    if state == "turn" and news.get("/game/current") == me:
        del news["/game/current"]  # one salvo for each time that it comes
        afloat = [ship for ship in fleet if not news.get(f"/player/{me}/ships/{ship}/sunk")]
        rivals = [name for name in players() if name != me and not news.get(f"/player/{name}/defeated")]
        aims = [(name, x, y) for name in rivals for x in range(1, 11) for y in range(1, 11)]
        aims.sort(key=lambda aim: (aim in fired, random.random()))  # fresh cells first
        for target, x, y in aims[: len(afloat)]:
            fired.add((target, x, y))
            shot = {"data": {"x": x, "y": y}, "signature": blob({"x": x, "y": y})}
            client.publish(f"/players/{target}/fire", json.dumps(shot), qos=1)
    if state and (winner := news.pop("/game/winner", "")):
        print("winner:", winner)
        client.disconnect()

client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
client.on_connect, client.on_message = on_connect, on_message
client.username_pw_set(me, secret)
client.connect(host, int(port))
client.loop_forever()  # when the connection is lost, it waits for a second, then longer, before it connects again
