/* A client in C: libmosquitto, libsodium and cJSON. It plays for SALVO_TEAM with SALVO_SECRET at SALVO_URL, game after
 * game: cc -O2 -o client examples/client.c -lmosquitto -lsodium -lcjson
 * Debian has the headers in libmosquitto-dev, libsodium-dev and libcjson-dev. */
#include <cjson/cJSON.h>
#include <mosquitto.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SHIPS = 5, SIDE = 10, MOST_PLAYERS = 128, NAME = 33 };

static const struct {
    const char *name;
    int length;
} fleet[SHIPS] = {{"carrier", 5}, {"battleship", 4}, {"destroyer", 3}, {"submarine", 3}, {"patrolboat", 2}};

struct player {
    char name[NAME];
    bool defeated;
    bool fired[SIDE * SIDE];
};

static struct mosquitto *broker;
static const char *me, *secret;
static unsigned char salt[crypto_pwhash_SALTBYTES], key[crypto_secretbox_KEYBYTES];
static char state[16], current[NAME];
static struct player players[MOST_PLAYERS];
static int count;
static bool sunk[SHIPS], placed;
static time_t next_request;

static void publish(const char *topic, const char *payload) {
    mosquitto_publish(broker, NULL, topic, (int)strlen(payload), payload, 1, false);
}

/* Write the blob of a text: base64 of salt, nonce and ciphertext. */
static void seal(const char *text, char *blob, size_t most) {
    unsigned char bytes[512], *nonce = bytes + sizeof salt, *sealed = nonce + crypto_secretbox_NONCEBYTES;
    size_t length = strlen(text);
    memcpy(bytes, salt, sizeof salt);
    randombytes_buf(nonce, crypto_secretbox_NONCEBYTES);
    crypto_secretbox_easy(sealed, (const unsigned char *)text, length, nonce, key);
    size_t all = (size_t)(sealed - bytes) + crypto_secretbox_MACBYTES + length;
    sodium_bin2base64(blob, most, bytes, all, sodium_base64_VARIANT_ORIGINAL);
}

static struct player *player_named(const char *name) {
    for (int each = 0; each < count; each++)
        if (!strcmp(players[each].name, name)) return &players[each];
    return NULL;
}

static void ask(void) {
    cJSON *request = cJSON_CreateObject();
    cJSON_AddStringToObject(request, "name", me);
    cJSON_AddStringToObject(request, "secret", secret);
    char *text = cJSON_PrintUnformatted(request);
    publish("/game/request_participation", text);
    cJSON_free(text);
    cJSON_Delete(request);
    next_request = time(NULL) + 3 + randombytes_uniform(5);
}

static void place(void) {
    for (int ship = 0; ship < SHIPS; ship++) { /* every second row, so that no two ships overlap */
        char text[96], blob[1024], topic[128];
        int x = 1 + (int)randombytes_uniform((unsigned)(SIDE + 1 - fleet[ship].length));
        snprintf(text, sizeof text, "{\"coordinates\": \"%d;%d\", \"Orientation\": \"HORIZONTAL\"}", x, 2 * ship + 2);
        snprintf(topic, sizeof topic, "/players/%s/ships/%s/place", me, fleet[ship].name);
        seal(text, blob, sizeof blob);
        publish(topic, blob);
    }
    placed = true;
}

static void fire(void) {
    int shots = 0;
    for (int ship = 0; ship < SHIPS; ship++) shots += !sunk[ship];
    struct player *target = NULL;
    for (int each = 0; each < count && !target; each++)
        if (!players[each].defeated && strcmp(players[each].name, me)) target = &players[each];
    for (; target && shots; shots--) {
        int cell = (int)randombytes_uniform(SIDE * SIDE);
        for (int tries = 0; target->fired[cell] && tries < SIDE * SIDE; tries++) cell = (cell + 1) % (SIDE * SIDE);
        target->fired[cell] = true;
        char body[48], blob[1024], topic[64], message[1200];
        snprintf(body, sizeof body, "{\"x\": %d, \"y\": %d}", 1 + cell % SIDE, 1 + cell / SIDE);
        seal(body, blob, sizeof blob);
        snprintf(message, sizeof message, "{\"data\": %s, \"signature\": \"%s\"}", body, blob);
        snprintf(topic, sizeof topic, "/players/%s/fire", target->name);
        publish(topic, message);
    }
}

/* Read the list of players, and copy what is known of those that it had before. */
static void read_list(const char *text) {
    static struct player former[MOST_PLAYERS];
    int before = count;
    memcpy(former, players, sizeof players);
    memset(players, 0, sizeof players);
    count = 0;
    cJSON *list = cJSON_Parse(text), *each;
    cJSON_ArrayForEach(each, list) {
        if (!cJSON_IsString(each) || strlen(each->valuestring) >= NAME || count == MOST_PLAYERS) continue;
        for (int old = 0; old < before; old++)
            if (!strcmp(former[old].name, each->valuestring)) players[count] = former[old];
        strcpy(players[count++].name, each->valuestring);
    }
    cJSON_Delete(list);
}

/* Record what sank and who is defeated: /player/<name>/defeated, /player/<name>/ships/<ship>/sunk. */
static void read_loss(const char *topic, bool lost) {
    char name[NAME], rest[64];
    if (sscanf(topic, "/player/%32[^/]/%63s", name, rest) != 2) return;
    struct player *player = player_named(name);
    if (!strcmp(rest, "defeated") && player) player->defeated = lost;
    for (int ship = 0; ship < SHIPS && !strcmp(name, me); ship++) {
        char own[64];
        snprintf(own, sizeof own, "ships/%s/sunk", fleet[ship].name);
        if (!strcmp(rest, own)) sunk[ship] = lost;
    }
}

/* Forget the last game. */
static void forget(void) {
    memset(sunk, 0, sizeof sunk);
    for (int each = 0; each < count; each++) {
        players[each].defeated = false;
        memset(players[each].fired, 0, sizeof players[each].fired);
    }
}

static void on_message(struct mosquitto *mosquitto, void *nothing, const struct mosquitto_message *message) {
    (void)mosquitto, (void)nothing;
    char *text = calloc(1, (size_t)message->payloadlen + 1);
    if (!text) return;
    if (message->payloadlen) memcpy(text, message->payload, (size_t)message->payloadlen);
    if (!strcmp(message->topic, "/game/state")) {
        snprintf(state, sizeof state, "%s", text);
        if (!strcmp(state, "lobby")) forget(); /* its topics were cleared, perhaps while this client was away */
        next_request = 0;
    } else if (!strcmp(message->topic, "/game/current")) {
        snprintf(current, sizeof current, "%s", text);
    } else if (!strcmp(message->topic, "/players/list")) {
        read_list(text);
    } else {
        read_loss(message->topic, !strcmp(text, "true"));
    }
    free(text);
    bool listed = player_named(me) != NULL;
    placed = placed && listed && !strcmp(state, "lobby");
    if (listed && !placed && !strcmp(state, "lobby")) place();
    if (listed && !strcmp(state, "turn") && !strcmp(current, me)) {
        current[0] = 0; /* one salvo for each announcement of a turn */
        fire();
    }
}

static void on_connect(struct mosquitto *mosquitto, void *nothing, int refused) {
    static char *filters[] = {"/players/list", "/player/#", "/game/state", "/game/current"};
    (void)nothing;
    if (refused)
        fprintf(stderr, "the broker refuses the connection: %s\n", mosquitto_connack_string(refused));
    else
        mosquitto_subscribe_multiple(mosquitto, NULL, 4, filters, 1, 0, NULL);
}

int main(void) {
    const char *url = getenv("SALVO_URL");
    char host[256];
    int port;
    me = getenv("SALVO_TEAM"), secret = getenv("SALVO_SECRET");
    if (!url || !me || !secret || sscanf(url, "mqtt://%255[^:]:%d", host, &port) != 2) {
        fprintf(stderr, "put mqtt://HOST:PORT into SALVO_URL, name and secret into SALVO_TEAM and SALVO_SECRET\n");
        return 2;
    }
    if (sodium_init() < 0) return 1;
    randombytes_buf(salt, sizeof salt);
    if (crypto_pwhash(key, sizeof key, secret, strlen(secret), salt, crypto_pwhash_OPSLIMIT_INTERACTIVE,
                      crypto_pwhash_MEMLIMIT_INTERACTIVE, crypto_pwhash_ALG_ARGON2ID13))
        return 1;
    mosquitto_lib_init();
    broker = mosquitto_new(NULL, true, NULL);
    mosquitto_username_pw_set(broker, me, secret);
    mosquitto_connect_callback_set(broker, on_connect);
    mosquitto_message_callback_set(broker, on_message);
    if (mosquitto_connect(broker, host, port, 60)) return 1;
    for (;;) { /* until the process is killed */
        if (mosquitto_loop(broker, 200, 1)) {
            struct timespec pause = {1, 0};
            nanosleep(&pause, NULL);
            mosquitto_reconnect(broker);
        }
        if (!strcmp(state, "lobby") && !player_named(me) && time(NULL) >= next_request) ask();
    }
}
