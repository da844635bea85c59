"""A client without any SDK: paho-mqtt and PyNaCl. Call it with HOST PORT NAME SECRET."""
import base64, json, random, sys
import nacl.pwhash, nacl.secret, nacl.utils
import paho.mqtt.client as mqtt

host, port, me, secret = sys.argv[1:5]
fleet = {"carrier": 5, "battleship": 4, "destroyer": 3, "submarine": 3, "patrolboat": 2}
salt = nacl.utils.random(16)
box = nacl.secret.SecretBox(nacl.pwhash.argon2id.kdf(32, secret.encode(), salt, opslimit=2, memlimit=2**26))
targets, afloat, placed = {}, 5, False

def blob(body):
    return base64.b64encode(salt + box.encrypt(json.dumps(body).encode())).decode()

def on_message(client, _, message):
    global afloat, placed
    match message.topic.split("/")[1:], message.payload.decode():
        case ["game", "state"], "lobby":
            client.publish("/game/request_participation", json.dumps({"name": me, "secret": secret}), qos=1)
        case ["players", "list"], names if names:
            for name in json.loads(names):
                targets.setdefault(name, [(x, y) for x in range(1, 11) for y in range(1, 11)])
            if me in targets and not placed:  # every second row, so that no two ships overlap
                placed = True
                for row, (ship, length) in enumerate(fleet.items(), start=1):
                    at = f"{random.randint(1, 11 - length)};{2 * row}"
                    place = blob({"coordinates": at, "Orientation": "HORIZONTAL"})
                    client.publish(f"/players/{me}/ships/{ship}/place", place, qos=1)
        case ["player", name, "ships", _, "sunk"], "true" if name == me:
            afloat -= 1
        case ["player", name, "defeated"], "true":
            targets.pop(name)
        case ["game", "current"], name if name == me:
            aims = [(name, cell) for name in targets if name != me for cell in targets[name]]
            for target, (x, y) in random.sample(aims, min(afloat, len(aims))):
                targets[target].remove((x, y))
                shot = {"data": {"x": x, "y": y}, "signature": blob({"x": x, "y": y})}
                client.publish(f"/players/{target}/fire", json.dumps(shot), qos=1)
        case ["game", "winner"], winner if winner:
            print("winner:", winner)
            client.disconnect()

client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
topics = "/game/state", "/game/current", "/game/winner", "/players/list", "/player/#"
client.on_connect = lambda *_: client.subscribe([(topic, 1) for topic in topics])
client.on_message = on_message
client.connect(host, int(port))
client.loop_forever()
