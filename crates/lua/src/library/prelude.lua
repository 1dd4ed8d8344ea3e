-- Functions that the machine brings itself, because the interpreter's own do work that nobody counts, or give things in
-- an order that changes from one process to the next. What is written here is counted as any script is.
local keys, charge, caught, written, concat = ...
local error, pcall, rawequal, rawget, select = error, pcall, rawequal, rawget, select
local tostring, type = tostring, type

local base, list, numbers = {}, {}, {}

-- The interpreter writes whole numbers of up to fourteen digits as everybody does, and others in its own way.
local function text(number)
  if number % 1 == 0 and number < 1e14 and number > -1e14 and number ~= 0 then
    return tostring(number)
  end
  return written(number)
end

function base.tostring(value)
  if type(value) == "number" then
    return text(value)
  end
  return tostring(value)
end

-- The joint of `a .. joint .. b`. It is a function, because a script that gets hold of it can keep nothing in one. Called, it
-- gives the table that functions with `...` have in `arg`.
local function joint(...)
  return { n = select("#", ...), ... }
end

local held

-- What happens where a function is concatenated. What is on the right of the joint comes first, and is kept until the left
-- comes.
local function join(left, right)
  if rawequal(left, joint) then
    held = right
    return joint
  end
  if rawequal(right, joint) then
    right, held = held, nil
  end
  local before, after = type(left), type(right)
  if before == "number" then
    left = text(left)
  end
  if after == "number" then
    right = text(right)
  end
  if type(left) ~= "string" or type(right) ~= "string" then
    error("cannot perform concat operation between " .. before .. " and " .. after, 2)
  end
  local made = left .. right
  if #made > 4096 then
    charge(#made)
  end
  return made
end

function base.assert(value, message, ...)
  if value then
    return value, message, ...
  end
  if message == nil then
    message = "assertion failed!"
  end
  error(message, 2)
end

-- What was caught is looked at: running out of memory is the end. Errors of the library become texts.
local function checked(ok, ...)
  if not ok then
    return ok, caught((...))
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

function list.concat(t, between, first, last)
  local size = #t
  if first and not last and (first < 1 or first > size) then
    return ""
  end
  first, last = first or 1, last or size
  if first > size then first = size end
  if first < 1 then first = 1 end
  if last > size then last = size end
  local parts, count = {}, 0
  for at = first, last do
    local value = rawget(t, at)
    local kind = type(value)
    if kind == "number" then
      value = text(value)
    elseif kind ~= "string" then
      error("invalid value (" .. kind .. ") at index " .. text(at) .. " in table for concat", 2)
    end
    count = count + 1
    parts[count] = value
  end
  local made = concat(parts, between)
  charge(#made)
  return made
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

function numbers.mod(left, right)
  return left % right
end

return base, list, numbers, joint, { __concat = join, __metatable = false }
