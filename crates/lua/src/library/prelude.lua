-- Functions that the machine brings itself, because the interpreter's own do work that nobody counts, or give things in
-- an order that changes from one process to the next. What is written here is counted as any script is.
local keys, charge, caught, concat = ...
local pcall, rawget, select, type = pcall, rawget, select, type

local base, list = {}, {}

-- What was caught is looked at: running out of memory is the end.
local function checked(ok, ...)
  if not ok then
    caught((...))
  end
  return ok, ...
end

function base.pcall(f, ...)
  return checked(pcall(f, ...))
end

local function handled(handler, ok, ...)
  if ok then
    return ok, ...
  end
  return ok, handler((...))
end

-- The interpreter calls a handler while it does not count. Here it is called afterwards.
function base.xpcall(f, handler, ...)
  return handled(handler, base.pcall(f, ...))
end

-- Numbers first, then texts in their order, then the rest.
function base.pairs(t)
  local order, count = keys(t)
  local at = 0
  return function()
    while at < count do
      at = at + 1
      local key = order[at]
      local value = rawget(t, key)
      if value ~= nil then
        return key, value
      end
    end
  end, t, nil
end

function list.getn(t)
  return #t
end

function list.maxn(t)
  local most = 0
  for key in base.pairs(t) do
    if type(key) == "number" and key > most then
      most = key
    end
  end
  return most
end

function list.concat(t, ...)
  local text = concat(t, ...)
  charge(#text)
  return text
end

function list.insert(t, ...)
  local size = #t
  if select("#", ...) == 1 then
    t[size + 1] = (...)
    return
  end
  local position, value = ...
  for at = size, position, -1 do
    t[at + 1] = t[at]
  end
  t[position] = value
end

function list.remove(t, position)
  local size = #t
  position = position or size
  if position < 1 or position > size then
    return nil
  end
  local value = t[position]
  for at = position, size - 1 do
    t[at] = t[at + 1]
  end
  t[size] = nil
  return value
end

local function merge(from, to, low, middle, high, less)
  local left, right = low, middle + 1
  for at = low, high do
    local take_right
    if left > middle then
      take_right = true
    elseif right > high then
      take_right = false
    elseif less then
      take_right = less(from[right], from[left])
    else
      take_right = from[right] < from[left]
    end
    if take_right then
      to[at] = from[right]
      right = right + 1
    else
      to[at] = from[left]
      left = left + 1
    end
  end
end

-- Merges ever longer runs. It ends whatever the comparison says.
function list.sort(t, less)
  local size, width = #t, 1
  local from, to = {}, {}
  for at = 1, size do
    from[at] = t[at]
  end
  while width < size do
    for low = 1, size, 2 * width do
      local middle, high = low + width - 1, low + 2 * width - 1
      if middle > size then middle = size end
      if high > size then high = size end
      merge(from, to, low, middle, high, less)
    end
    from, to, width = to, from, 2 * width
  end
  for at = 1, size do
    t[at] = from[at]
  end
end

return base, list
