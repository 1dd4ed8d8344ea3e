// What programs are given instead of the signs and the functions that make something: each counts what will be made and
// then has the evaluator make it. `room` and its like end the program when there was too much. Steps are counted as in
// limits.rs; one is about as much memory as 256 bytes of text.
local room = std.native('\u0000room'), texts = std.native('\u0000texts');
local node = std.native('\u0000node');
local widths = std.native('\u0000widths'), replaced = std.native('\u0000replaced');
local found = std.native('\u0000found'), parsed = std.native('\u0000parsed');
local isArray = std.isArray, isNumber = std.isNumber, isObject = std.isObject, isString = std.isString;
local length = std.length, foldl = std.foldl;

// Elements of a list that is copied, and elements that are new.
local copied(count) = room(count / 32);
local elements(count) = room(count / 2);

// How large an object is: its layers, and a third for each of their fields. To add to an object copies it, so a sum says
// how large it has become, in a field with a name that no program knows. What is no sum has one layer. An object is not
// to check its assertions only because it is measured.
local size = '@size@', asserts = '\u0000asserts';
local charged(count) = assert room(2 * count); { [size]:: count };
local weight(object) =
  if !(size in object) then 1 + length(std.objectFieldsEx(object, true)) / 3
  else if asserts in object then
    // That makes a copy.
    local count = (object + { '\u0000quiet':: true })[size];
    assert room(count);
    count
  else object[size];
// Goes through values as one who prints them does, who may meet the same list again and again. Those that are made of
// each other nest, so that deep ones cost more. Before each line there are so many characters, and so many more with each
// level; `keys` is 1 if the names of the fields around stand there too.
local walk(names, items, before, more, keys, depth) =
  assert node(length(items), names, std.filter(isString, items), before, depth);
  foldl(function(_, item) walk([], item, before + more, more, keys, depth + 1), std.filter(isArray, items), true)
  && foldl(
    function(_, object)
      local fields = std.objectFieldsEx(object, false);
      local longer = if keys == 0 then 0 else length(std.join('', fields));
      walk(fields, [object[name] for name in fields], before + more + longer, more, keys, depth + 1),
    std.filter(isObject, items),
    true
  );
local shown(value) = isNumber(value) || walk([], [value], 0, 0, 0, 0);

// The same for those who only go through lists, or through the objects that a patch changes.
local lists(value, depth) =
  assert node(1, [], [], 0, depth);
  if isArray(value) then foldl(function(_, item) lists(item, depth + 1), value, true) else true;
local patched(target, patch, depth) =
  assert node(1, [], [], 0, depth) && (!isObject(target) || room(length(target)));
  local under(name) = if isObject(target) && std.objectHasEx(target, name, false) then target[name];
  if isObject(patch) then
    foldl(function(_, name) patched(under(name), patch[name], depth + 1), std.objectFieldsEx(patch, false), true)
  else true;

// A list or a text of which a copy is made, or a part.
local part(value) =
  if isString(value) then assert texts(value, ' '); value
  else if isArray(value) then assert copied(length(value)); value
  else value;
local made(count, value) = assert elements(count); value;
local sizeOf(value) = if isArray(value) || isString(value) then length(value) else 0;

// One of those that are put together. What they become grows as they come, and is copied while it grows.
local joined(value) = if isString(value) then assert room(length(value) / 64); value else part(value);
local allJoined(values) =
  if isArray(values) then assert elements(length(values)); std.map(joined, values) else values;

local add(left, right) =
  if isObject(right) && isObject(left) then
    left + (right + charged(weight(left) + weight(right)) tailstrict)
  else if isNumber(right) && isNumber(left) then left + right
  else if isString(left) then
    assert if isString(right) then texts(left, right) else shown(right) && texts(left, ' ');
    left + right
  else if isString(right) then
    assert shown(left) && texts(right, ' ');
    left + right
  else if isArray(left) && isArray(right) then
    assert copied(length(left) + length(right));
    left + right
  else left + right;

// The format says what it takes, so that nothing is evaluated that it does not.
local format(str, vals) =
  if !isString(str) then std.format(str, vals)
  else
    local wanted = widths(str);
    local wide(index) =
      index >= length(vals) || !isNumber(vals[index]) || room(std.abs(vals[index]) / 32);
    assert foldl(function(_, index) !isArray(vals) || wide(index), wanted[0], true);
    assert if isObject(vals) then
      foldl(function(_, name) !(name in vals) || shown(vals[name]), wanted[1], true)
    else shown(vals);
    std.format(str, vals);

local rem(left, right) = if isString(left) then format(left, right) else left % right;

{
  add: add,
  // The same with an object that stands in the text, and so large it is.
  extend(left, right, own):
    if isObject(left) then
      left + (right + charged(own + if size in left && !(asserts in left) then left[size] else weight(left)) tailstrict)
    else add(left, right),
  sum(first, rest): foldl(add, rest, first),
  plus(under, base, value): if under then add(base, value) else value,
  plusObject(under, base, value, own):
    if !under then value
    else if isObject(base) then
      base + (value + charged(own + if size in base && !(asserts in base) then base[size] else weight(base)) tailstrict)
    else add(base, value),
  rem: rem,
  part: part,
  told(value): assert isString(value) || shown(value); value,
  whole(value): assert std.isFunction(value) || shown(value); value,

  // The library as programs see it. Where Argo CD's evaluator takes more than this one, or by another name, it is as there.
  library(base): base {
    local list(arr) = if isString(arr) then self.stringChars(arr) else arr,
    local outer = self,
    local fields(obj, inc_hidden) =
      local names = std.objectFieldsEx(obj, inc_hidden);
      if inc_hidden == true then std.filter(function(name) !std.startsWith(name, '\u0000'), names) else names,

    makeArray(sz, func):: assert room(8 * sz); std.makeArray(sz, func),
    range(from, to):: assert room(8 * (to - from)); std.range(from, to),
    repeat(what, count)::
      assert room(if isArray(what) then 8 * length(what) * count else sizeOf(what) / 64 * count);
      std.repeat(what, count),
    foldl(func, arr, init):: std.foldl(func, list(arr), init),
    foldr(func, arr, init):: std.foldr(func, list(arr), init),
    map(func, arr):: made(sizeOf(arr), std.map(func, arr)),
    mapWithIndex(func, arr):: made(sizeOf(arr), std.mapWithIndex(func, arr)),
    filter(func, arr):: std.filter(func, part(arr)),
    filterMap(filter_func, map_func, arr):: made(sizeOf(arr), std.filterMap(filter_func, map_func, arr)),
    flatMap(func, arr)::
      assert room(8 * sizeOf(arr));
      if std.isFunction(func) then std.flatMap(function(x) joined(func(x)), arr) else std.flatMap(func, arr),
    flattenArrays(arrs):: std.flattenArrays(allJoined(arrs)),
    flattenDeepArray(value):: assert lists(value, 0); std.flattenDeepArray(value),
    reverse(arr):: made(if isString(arr) then length(arr) else 0, std.reverse(part(arr))),
    slice(indexable, index, end, step):: std.slice(part(indexable), index, end, step),
    remove(arr, elem):: std.remove(part(arr), elem),
    removeAt(arr, idx):: std.removeAt(part(arr), idx),
    join(sep, arr):: assert room(sizeOf(sep) * sizeOf(arr) / 32); std.join(sep, allJoined(arr)),
    deepJoin(arr):: assert shown(arr); std.deepJoin(arr),

    mod(a, b):: rem(a, b),
    format(str, vals):: format(str, vals),
    toString(a):: if isString(a) then a else assert shown(a); std.toString(a),
    asciiUpper(str):: std.asciiUpper(part(str)),
    asciiLower(str):: std.asciiLower(part(str)),
    substr(str, from, len):: std.substr(part(str), from, len),
    trim(str):: std.trim(part(str)),
    stripChars(str, chars):: std.stripChars(part(str), chars),
    lstripChars(str, chars):: std.lstripChars(part(str), chars),
    rstripChars(str, chars):: std.rstripChars(part(str), chars),
    strReplace(str, from, to)::
      assert !isString(str) || !isString(from) || !isString(to) || replaced(str, from, to);
      std.strReplace(str, from, to),
    split(str, c):: assert !isString(str) || !isString(c) || found(str, c); std.split(part(str), c),
    splitLimit(str, c, maxsplits)::
      assert !isString(str) || !isString(c) || found(str, c);
      std.splitLimit(part(str), c, maxsplits),
    splitLimitR(str, c, maxsplits)::
      assert !isString(str) || !isString(c) || found(str, c);
      std.splitLimitR(part(str), c, maxsplits),
    findSubstr(pat, str)::
      assert !isString(str) || !isString(pat) || found(str, pat);
      std.findSubstr(pat, str),
    stringChars(str):: made(sizeOf(str), std.stringChars(str)),
    encodeUTF8(str):: made(sizeOf(str) * 2, std.encodeUTF8(str)),
    decodeUTF8(arr):: std.decodeUTF8(part(arr)),
    base64(input):: assert copied(sizeOf(input)); std.base64(part(input)),
    base64Decode(str):: std.base64Decode(part(str)),
    base64DecodeBytes(str):: made(sizeOf(str), std.base64DecodeBytes(str)),
    escapeStringJson(str_):: assert shown(str_); std.escapeStringJson(str_),
    escapeStringPython(str):: assert shown(str); std.escapeStringPython(str),
    escapeStringBash(str_):: assert shown(str_); std.escapeStringBash(str_),
    escapeStringDollars(str_):: assert shown(str_); std.escapeStringDollars(str_),
    escapeStringXML(str_):: assert shown(str_); std.escapeStringXML(str_),
    parseJson(str):: assert !isString(str) || parsed(str); std.parseJson(str),
    parseYaml(str):: assert !isString(str) || parsed(str); std.parseYaml(str),

    manifestJsonEx(value, indent, newline='\n', key_val_sep=': ')::
      assert walk([], [value], sizeOf(newline) + sizeOf(key_val_sep), sizeOf(indent), 0, 0);
      std.manifestJsonEx(value, indent, newline, key_val_sep),
    manifestYamlDoc(value, indent_array_in_object=false, quote_keys=true)::
      assert walk([], [value], 2, 2, 0, 0);
      std.manifestYamlDoc(value, indent_array_in_object, quote_keys),
    manifestYamlStream(value, indent_array_in_object=false, c_document_end=true, quote_keys=true)::
      assert walk([], [value], 2, 2, 0, 0);
      std.manifestYamlStream(value, indent_array_in_object, c_document_end, quote_keys),
    manifestTomlEx(value, indent):: assert walk([], [value], 8, sizeOf(indent), 1, 0); std.manifestTomlEx(value, indent),
    manifestIni(ini):: assert walk([], [ini], 4, 0, 1, 0); std.manifestIni(ini),
    manifestPython(v):: assert shown(v); std.manifestPython(v),
    manifestPythonVars(conf):: assert shown(conf); std.manifestPythonVars(conf),
    manifestXmlJsonml(value):: assert shown(value); std.manifestXmlJsonml(value),
    assertEqual(a, b):: a == b || (assert shown(a) && shown(b); std.assertEqual(a, b)),

    objectFieldsEx(obj, inc_hidden):: local names = fields(obj, inc_hidden); made(length(names), names),
    objectValues(o):: local names = fields(o, false); assert room(2 * length(names)); [o[name] for name in names],
    objectValuesAll(o):: local names = fields(o, true); assert room(2 * length(names)); [o[name] for name in names],
    objectKeysValues(o)::
      local names = fields(o, false);
      assert room(4 * length(names));
      [{ key: name, value: o[name] } for name in names],
    objectKeysValuesAll(o)::
      local names = fields(o, true);
      assert room(4 * length(names));
      [{ key: name, value: o[name] } for name in names],
    objectRemoveKey(obj, key)::
      if isObject(obj) then
        // That is copied twice.
        assert room(3 * weight(obj));
        std.objectRemoveKey(obj, key) + charged(weight(obj) + 1) tailstrict
      else std.objectRemoveKey(obj, key),
    mapWithKey(func, obj)::
      assert !isObject(obj) || room(length(obj));
      std.mapWithKey(func, obj),
    mergePatch(target, patch)::
      assert patched(target, patch, 0);
      std.mergePatch(target, patch),
    prune(a):: assert shown(a); std.prune(a),
    native(name):: if isString(name) then null else std.native(name),
  },
}
