-- A pace for each connection: what its client sends beyond it is read later, so nothing is lost and nothing is dropped.
-- The smallest message has 22 bytes, so a client gets at most 3,000 a second through, a third of what the server takes;
-- mosquitto itself would take 100,000. A salvo has some 2 KB: thirty salvos a second are more than any bot plays.
local RATE = 65536  -- bytes a second
local BURST = 32768 -- bytes at once

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
    if taken < waiting then
        filter.wake_time(20) -- ms
    end
    return taken
end

core.register_filter("pace", Pace, function(pace, arguments) return pace end)
