-- What the front does with what a client sends, before mosquitto reads it.
--
-- It has a pace: what is beyond it is read later, so nothing is lost and nothing is dropped. The smallest message has 22
-- bytes, so the five connections of a team get at most 3,700 a second through, half of what the server takes; mosquitto
-- itself would take 100,000. A salvo has some 1.5 KB: ten a second, without end, are enough.
--
-- And it has a mark: MQTT does not tell the server who has published, so each command gets a mark of its connection in
-- front of what it says: "@", 16 hex digits that nobody can guess, and a blank. The server takes it off again. Teams pay
-- for what comes over connections that have shown their secret, and not for what others publish (SALVO-FRESH-9).
local RATE = 16384  -- bytes a second
local BURST = 16384 -- bytes at once
-- HAProxy's buffer (tune.bufsize), and bytes read at once: what marks add to them has room there (tune.maxrewrite).
local BUFFER = 16384
local CHUNK = 1024
-- The longest head of a message, topic and properties, that waits here until it is whole.
local LONGEST = 4096
-- Last levels of the topics whose publisher the server wants to know.
local COMMANDS = { fire = true, place = true, skip = true, leave = true, request_participation = true }

local function broken(why)
    error(why, 0)
end

-- A number in 7 bits a byte, and the place after it; nil while it is not whole.
local function varint(bytes, at)
    local value = 0
    for digit = 0, 3 do
        local byte = bytes:byte(at + digit)
        if not byte then return nil end
        value = value | (byte & 127) << 7 * digit
        if byte < 128 then return value, at + digit + 1 end
    end
    broken("a length of more than four bytes")
end

local function varint_of(value)
    local bytes = {}
    repeat
        local rest = value >> 7
        bytes[#bytes + 1] = string.char(value & 127 | (rest > 0 and 128 or 0))
        value = rest
    until value == 0
    return table.concat(bytes)
end

-- A client's MQTT, as it passes.
local Mqtt = {}
Mqtt.__index = Mqtt

local function mqtt(mark)
    return setmetatable({ mark = mark, held = "", left = 0, level = nil }, Mqtt)
end

-- Return the bytes with marks; the head of a message waits until it is whole.
function Mqtt:read(bytes)
    bytes = self.held .. bytes
    local out, at = {}, 1
    while at <= #bytes do
        if self.left == 0 then
            local head, after, size = self:head(bytes, at)
            if not head then break end
            out[#out + 1] = head
            at, self.left = after, size
        end
        local piece = bytes:sub(at, at + self.left - 1)
        out[#out + 1] = piece
        at, self.left = at + #piece, self.left - #piece
    end
    self.held = bytes:sub(at)
    if #self.held > LONGEST then broken("a head without end") end
    return table.concat(out)
end

local function rest(size, taken)
    if taken > size then
        broken("a head that is longer than its packet")
    end
    return size - taken
end

-- The place after a field that begins with its length; nil while that is not there.
local function after_field(bytes, at)
    return at and #bytes > at and at + 2 + string.unpack(">I2", bytes, at) or nil
end

-- The place after properties, which MQTT 5 alone has.
local function after_properties(bytes, at, level)
    if level ~= 5 or not at then return at end
    local size, from = varint(bytes, at)
    return size and from + size
end

local function is_command(topic)
    return COMMANDS[topic:match("[^/]*$")]
end

-- Return what to send in place of a packet's head, the place after it, and how much of the packet follows.
function Mqtt:head(bytes, at)
    local size, body = varint(bytes, at + 1)
    if not size then return nil end
    local kind = bytes:byte(at) >> 4
    if kind == 3 then return self:publish(bytes, at, body, size) end
    if kind == 1 and not self:connect(bytes, body) then return nil end
    return bytes:sub(at, body - 1), body, size
end

-- Whether a greeting is known as far as it matters. Its last will would be published without a mark.
function Mqtt:connect(bytes, body)
    local at = after_field(bytes, body) -- the protocol's name
    if not at or #bytes < at + 3 then return false end
    local level, flags = bytes:byte(at, at + 1)
    self.level = self.level or level & 127 -- a bridge sets the highest bit
    if flags & 4 == 0 then return true end
    local id = after_properties(bytes, at + 4, self.level)
    local will = after_properties(bytes, after_field(bytes, id), self.level)
    local after = after_field(bytes, will)
    if not after or #bytes < after - 1 then return false end
    if is_command(bytes:sub(will + 2, after - 1)) then
        broken("a last will that is a command")
    end
    return true
end

function Mqtt:publish(bytes, at, body, size)
    local payload = after_field(bytes, body)
    if not payload or #bytes < payload - 1 then return nil end
    local topic = bytes:sub(body + 2, payload - 1)
    if topic == "" then
        broken("an alias of a topic, which mosquitto is told not to offer")
    end
    if not is_command(topic) then
        return bytes:sub(at, payload - 1), payload, rest(size, payload - body)
    end
    local first = bytes:byte(at)
    payload = after_properties(bytes, first & 6 > 0 and payload + 2 or payload, self.level) -- after the message's number
    if not payload or #bytes < payload - 1 then return nil end
    local head = string.char(first) .. varint_of(size + #self.mark) .. bytes:sub(body, payload - 1) .. self.mark
    return head, payload, rest(size, payload - body)
end

Mqtt.farewell = "\0\0" -- a packet of no kind

-- The same inside a WebSocket, whose frames need not begin where messages do.
local WebSocket = {}
WebSocket.__index = WebSocket

local function websocket(mark)
    return setmetatable({ mqtt = mqtt(mark), held = "", left = 0, upgraded = false }, WebSocket)
end

local function unmasked(bytes, key, from)
    local out = { bytes:byte(1, -1) }
    for i = 1, #out do out[i] = out[i] ~ key[(from + i - 1) % 4 + 1] end
    return string.char(table.unpack(out))
end

local function frame(bytes)
    if bytes == "" then return "" end
    local size = #bytes < 126 and string.char(0x80 | #bytes) or string.pack(">BI2", 0x80 | 126, #bytes)
    return "\x82" .. size .. "\0\0\0\0" .. bytes -- a key of zeros masks nothing
end

WebSocket.farewell = frame(Mqtt.farewell)

function WebSocket:read(bytes)
    bytes = self.held .. bytes
    local out, said, at = {}, {}, 1
    if not self.upgraded then
        local _, head = bytes:find("\r\n\r\n", 1, true)
        if not head then
            self.held = bytes
            return ""
        end
        self.upgraded = true
        out[1], at = bytes:sub(1, head), head + 1
    end
    while at <= #bytes do
        if self.left == 0 then
            local after = self:head(bytes, at)
            if not after then break end
            if self.control then
                if #bytes < after + self.left - 1 then self.left = 0 break end
                out[#out + 1] = frame(table.concat(said)) .. bytes:sub(at, after + self.left - 1)
                said, at, self.left = {}, after + self.left, 0
                goto continue
            end
            at = after
        end
        local piece = bytes:sub(at, at + self.left - 1)
        said[#said + 1] = self.mqtt:read(unmasked(piece, self.key, self.at))
        at, self.at, self.left = at + #piece, self.at + #piece, self.left - #piece
        ::continue::
    end
    self.held = bytes:sub(at)
    return table.concat(out) .. frame(table.concat(said))
end

-- Read a frame's head; return the place after it.
function WebSocket:head(bytes, at)
    local first, second = bytes:byte(at, at + 1)
    if not second then return nil end
    if first & 0x70 > 0 or second & 0x80 == 0 then broken("a frame that is compressed, or not masked") end
    local size, key = second & 127, at + 2
    if size > 125 then
        local width = size == 126 and 2 or 8
        key = key + width
        if #bytes < key - 1 then return nil end
        size = string.unpack(">I" .. width, bytes, at + 2)
    end
    if #bytes < key + 3 then return nil end
    self.key, self.at, self.left, self.control = { bytes:byte(key, key + 3) }, 0, size, first & 8 > 0
    if size < 0 or self.control and size > 125 then broken("a frame of an impossible size") end
    return key + 4
end

local READERS = { mqtt = mqtt, websocket = websocket }

local Front = { id = "front", flags = 0 }
Front.__index = Front

local function seconds()
    local now = core.now()
    return now.sec + now.usec / 1e6
end

function Front:new()
    return setmetatable({ reads = self.reads, left = BURST, at = seconds(), place = 0, ours = 0 }, Front)
end

function Front:start_analyze(txn, channel)
    if not channel:is_resp() then
        filter.register_data_filter(self, channel)
    end
    return filter.CONTINUE
end

-- Take as much as the pace allows, and put it back with marks; where HAProxy's buffer has no room, try again.
--
-- HAProxy 2.6 garbles what a filter reads across the end of a buffer. So one byte of ours always stays there: a buffer
-- that is never empty begins nowhere else, and where the next bytes are is known.
function Front:tcp_payload(txn, channel)
    self.reader = self.reader or self.reads("@" .. txn.f:uuid():gsub("-", ""):sub(1, 16) .. " ")
    local now, waiting, given = seconds(), channel:input() - self.ours, 0
    self.left = math.min(BURST, self.left + (now - self.at) * RATE)
    self.at = now
    if waiting > 0 and self.ours > 0 then
        channel:remove(0, self.ours)
        self.ours = 0
    end
    if not self.said then
        self.taken = math.min(waiting, math.floor(self.left), CHUNK, BUFFER - self.place)
        if self.taken > 0 then
            self.left = self.left - self.taken
            local whole, said = pcall(self.reader.read, self.reader, txn.f:req_payload(0, self.taken))
            if not whole then -- what mosquitto closes; HAProxy 2.6 forwards everything when a filter fails
                said = self.reader.farewell
                self.reader = { read = function() return "" end }
            end
            self.said = said
        end
    end
    if self.said then
        local ours = self.taken == waiting and "\0" or ""
        local all = self.said .. ours
        if all == "" then
            channel:remove(0, self.taken)
            self.said = nil
        elseif channel:set(all, 0, self.taken) == #all then
            given, self.said, self.ours = #self.said, nil, #ours
            self.place = (self.place + given) % BUFFER
        end
    end
    local waits = channel:input() - self.ours > given
    -- Always set the next time: a stream whose last one has passed spins until HAProxy ends itself.
    filter.wake_time(waits and 20 or 60000) -- ms
    return given
end

core.register_filter("front", Front, function(front, arguments)
    front.reads = READERS[arguments[1]]
    return front
end)
