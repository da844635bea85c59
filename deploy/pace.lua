-- A pace for each connection: what its client sends beyond it is read later, so nothing is lost and nothing is dropped.
-- The smallest message has 22 bytes, so the five connections of a team get at most 3,700 a second through, half of what
-- the server takes; mosquitto itself would take 100,000. A salvo has some 1.5 KB: ten a second, without end, are enough.
local RATE = 16384  -- bytes a second
local BURST = 16384 -- bytes at once

local Pace = { id = "pace", flags = 0 }
Pace.__index = Pace

local function seconds()
    local now = core.now()
    return now.sec + now.usec / 1e6
end

function Pace:new()
    return setmetatable({ left = BURST, at = seconds() }, Pace)
end

function Pace:start_analyze(txn, channel)
    if not channel:is_resp() then
        filter.register_data_filter(self, channel)
    end
    return filter.CONTINUE
end

function Pace:tcp_payload(txn, channel)
    local now = seconds()
    self.left = math.min(BURST, self.left + (now - self.at) * RATE)
    self.at = now
    local waiting = channel:input()
    local taken = math.min(waiting, math.floor(self.left))
    self.left = self.left - taken
    -- Always set the next time: a stream whose last one has passed spins until HAProxy ends itself.
    filter.wake_time(taken < waiting and 20 or 60000) -- ms
    return taken
end

core.register_filter("pace", Pace, function(pace, arguments) return pace end)
