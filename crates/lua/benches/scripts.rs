//! How many health checks in Lua a second has room for.

#![allow(missing_docs, reason = "criterion's macros make functions that cannot be documented")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use jiff::Timestamp;
use lynceus_lua::{Libraries, Script, World};
use lynceus_object::{Object, value};

const CHECK: &str = r#"
local hs = {}
if obj.status ~= nil and obj.status.conditions ~= nil then
  for _, condition in ipairs(obj.status.conditions) do
    if condition.type == "Ready" then
      hs.status = condition.status == "True" and "Healthy" or "Degraded"
      hs.message = condition.message
      return hs
    end
  end
end
hs.status = "Progressing"
hs.message = "Waiting"
return hs
"#;

fn object() -> Object {
    let condition =
        |kind| value!({"type": kind, "status": "True", "reason": "Fine", "message": "all is well"});
    Object::new(value!({
        "apiVersion": "example.com/v1", "kind": "Thing",
        "metadata": {"name": "thing", "namespace": "shop", "labels": {"app": "thing"}, "generation": 3},
        "spec": {"replicas": 3, "image": "registry.example.com/thing:1.0", "ports": [80, 443]},
        "status": {"conditions": [condition("Synced"), condition("Ready")], "observedGeneration": 3},
    }))
    .unwrap_or_default()
}

fn scripts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("lua");
    group.throughput(Throughput::Elements(1));
    let world = World::at(Timestamp::UNIX_EPOCH);
    let object = object();
    for (name, libraries) in [("closed", Libraries::Closed), ("open", Libraries::Open)] {
        let Ok(script) = Script::compile(CHECK, libraries) else { continue };
        group.bench_function(format!("a check of one object, {name} libraries"), |bencher| {
            bencher.iter(|| script.health(&object, &world));
        });
    }
    group.bench_function("reading a script", |bencher| {
        bencher.iter(|| Script::compile(CHECK, Libraries::Closed));
    });
}

criterion_group!(benches, scripts);
criterion_main!(benches);
