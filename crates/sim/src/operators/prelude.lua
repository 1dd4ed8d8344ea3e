-- What every script of an operator finds beside Lua's own.

-- The value at a path, or nil where the way ends before: get(self, "spec", "template", "spec").
local function get(value, ...)
  for index = 1, select("#", ...) do
    if type(value) ~= "table" then return nil end
    value = value[select(index, ...)]
  end
  return value
end

-- The condition of a type, or nil.
local function condition(object, kind)
  for _, one in ipairs(get(object, "status", "conditions") or {}) do
    if one.type == kind then return one end
  end
end

-- Whether a condition is so.
local function is(object, kind)
  local found = condition(object, kind)
  return found ~= nil and found.status == "True"
end

-- The items of a list for which a function says so.
local function only(list, wanted)
  local found = {}
  for _, item in ipairs(list or {}) do
    if wanted(item) then table.insert(found, item) end
  end
  return found
end

-- The first of them.
local function first(list, wanted)
  return only(list, wanted)[1]
end

-- Whether a text is among those of a list.
local function among(list, wanted)
  return first(list, function(item) return item == wanted end) ~= nil
end

-- Whether an object belongs to another.
local function belongs(object, owner)
  return first(get(object, "metadata", "ownerReferences"), function(one)
    return one.uid == owner.metadata.uid
  end) ~= nil
end

-- A table with the fields of one, and those of another in their place; what is within them is shared.
local function with(fields, more)
  local made = {}
  for key, field in pairs(fields or {}) do made[key] = field end
  for key, field in pairs(more or {}) do made[key] = field end
  return made
end

-- A value as text, always the same for the same value.
local function written(value)
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for key, field in pairs(value) do table.insert(parts, tostring(key) .. "=" .. written(field)) end
  return "{" .. table.concat(parts, ",") .. "}"
end

-- A few letters that stand for a value, for names.
local function hash(value)
  local letters, number, made = "bcdfghjklmnpqrstvwxz2456789", 7, ""
  local text = written(value)
  for index = 1, #text do number = (number * 131 + string.byte(text, index)) % 4294967291 end
  for _ = 1, 10 do
    local at = number % #letters
    made = made .. string.sub(letters, at + 1, at + 1)
    number = math.floor(number / #letters) + (at + 1) * 7919
  end
  return made
end

-- A moment as objects have it, in seconds, and back.
local function time(seconds)
  return os.date("!%Y-%m-%dT%H:%M:%SZ", seconds)
end

local function seconds(text)
  local year, month, day, hour, minute, second = string.match(text, "(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)")
  return os.time({ year = year, month = month, day = day, hour = hour, min = minute, sec = second })
end

-- What a pod's container is stuck with: its reason and message, and the container; nil if nothing.
local function stuck(pod)
  for _, field in ipairs({ "initContainerStatuses", "containerStatuses" }) do
    for _, container in ipairs(get(pod, "status", field) or {}) do
      local waiting = get(container, "state", "waiting")
      if waiting and waiting.reason ~= "ContainerCreating" and waiting.reason ~= "PodInitializing" then
        return waiting.reason, waiting.message or "", container
      end
    end
  end
  local scheduled = condition(pod, "PodScheduled")
  if scheduled and scheduled.status == "False" then return scheduled.reason, scheduled.message or "" end
end

-- A text as the data of a Secret has it.
local function base64(text)
  local letters, made = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", {}
  for at = 1, #text, 3 do
    local a, b, c = string.byte(text, at, at + 2)
    local number = a * 65536 + (b or 0) * 256 + (c or 0)
    for place = 3, 0, -1 do
      local index = math.floor(number / 64 ^ place) % 64
      local is_there = place >= 2 or (place == 1 and b) or (place == 0 and c)
      table.insert(made, is_there and string.sub(letters, index + 1, index + 1) or "=")
    end
  end
  return table.concat(made)
end
