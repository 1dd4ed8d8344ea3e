# What a pod's containers do, read off annotations or a plain command, as the embedded kubelet reads them.
# Gives {code, time} for a pod that ends, with the time in seconds, and {code: "never"} for one that does not.
def seconds:
  (capture("^(?<n>[0-9.]+)(?<u>ms|s|m|h)?$") // null)
  | if . == null then null else (.n | tonumber) * ({"ms": 0.001, "m": 60, "h": 3600}[.u // "s"] // 1) end;
def among($words): . as $word | any($words[]; . == $word);
def step:
  .[0] as $first | .[1] as $second
  | if ($first | among(["true", "/bin/true", "echo", "/bin/echo"])) then {code: 0}
    elif ($first | among(["false", "/bin/false"])) then {code: 1}
    elif $first == "exit" then (try {code: (($second // "0") | tonumber), last: true} catch null)
    elif ($first | among(["sleep", "/bin/sleep"])) and ($second | among(["inf", "infinity"])) then {never: true}
    elif ($first | among(["sleep", "/bin/sleep"])) then
      (($second // "") | seconds) as $time | if $time == null then null else {time: $time} end
    else null end;
def whole:
  if any(.[]; . == null) then null
  else reduce .[] as $step ({time: 0, code: 0, over: false};
    if .over then .
    elif $step.never then {code: "never", time: 0, over: true}
    elif $step.time then .time += $step.time
    else .code = $step.code | .over = ($step.last // false) end)
  end;
def script:
  [splits("[;\\n]|&&") | gsub("^\\s+|\\s+$"; "") | select(. != "") | [splits("\\s+")] | step] | whole;
def command:
  ((.command // []) + (.args // [])) as $words
  | if ($words | length) == 0 then null
    elif ($words | length) > 2 and ($words[0] | test("(^|/)(sh|bash|ash)$"))
      and ($words[1] | among(["-c", "-ec", "-exc"])) then $words[2] | script
    else [$words | step] | whole end;
def program:
  (.metadata.annotations // {}) as $notes
  | ($notes["sim.lynceus.dev/exit-code"]) as $code | ($notes["sim.lynceus.dev/run-for"]) as $time
  | (if (.spec.restartPolicy // "Always") == "Always" then {code: "never", time: 0} else {code: 0, time: 1} end) as $usual
  | if $code != null or $time != null then
      {code: (($code // "0") | tonumber), time: (if $time == null then 1 else ($time | seconds // 1) end)}
    else
      [.spec.containers[] | command // $usual]
      | if any(.[]; .code == "never") then {code: "never", time: 0}
        else {code: (map(.code) | max), time: (map(.time) | max)} end
    end;
def restarts: [.status.containerStatuses[]?.restartCount] | max // 0;
def seconds_text: "\(. * 1000 | floor)ms";
