//! `cargo xtask e2e faults`: many applications are delivered on a real control plane while everything breaks.
//!
//! Commits arrive, the API server is killed, connections are cut, and the controller is killed at random moments. At the end
//! every application has to be Synced and Healthy, and the API server's own record of the writes has to show that no
//! hook ran twice for one operation and that nothing was deleted that Git contains.

mod controller;
mod fleet;
mod proxy;
mod random;
mod verdict;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use self::controller::Controllers;
use self::fleet::Fleet;
use self::proxy::Proxy;
use self::random::Random;
use crate::rig::{Component, Programs, Rig};

/// How long the controller lives between two kills, in milliseconds.
const LIFE: (u64, u64) = (400, 6_000);
/// A life that is long enough to be connected in its middle.
const LONG: Duration = Duration::from_secs(3);
/// How often connections are cut.
const CUT_EVERY: Duration = Duration::from_secs(11);
/// How often something is committed.
const COMMIT_EVERY: Duration = Duration::from_secs(25);
/// How often somebody looks how far it is.
const TELL_EVERY: Duration = Duration::from_secs(30);
/// How many times the API server is killed.
const SERVER_KILLS: usize = 4;
/// How long everything may take to come to rest when nothing breaks any more.
const REST: Duration = Duration::from_secs(240);

/// What a run is to be.
struct Plan {
    applications: usize,
    kills: usize,
    replicas: usize,
    seed: u64,
}

impl Plan {
    fn read(arguments: &[String]) -> Result<Self, String> {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let mut plan = Plan { applications: 200, kills: 100, replicas: 2, seed: now.as_secs() };
        let mut rest = arguments.iter();
        while let Some(flag) = rest.next() {
            let number = rest.next().and_then(|text| text.parse::<u64>().ok());
            let number = number.ok_or_else(|| format!("{flag} needs a number"))?;
            match flag.as_str() {
                "--applications" => plan.applications = number as usize,
                "--kills" => plan.kills = number as usize,
                "--replicas" => plan.replicas = number as usize,
                "--seed" => plan.seed = number,
                other => return Err(format!("a fault run has no {other:?}")),
            }
        }
        Ok(plan)
    }
}

/// Runs it all. `lynceus` is the program under test.
pub(super) fn main(lynceus: &Path, arguments: &[String]) -> Result<(), String> {
    let plan = Plan::read(arguments)?;
    println!("faults: {} applications, {} kills, --seed {}", plan.applications, plan.kills, plan.seed);
    let (rig, _turn) = Rig::alone("faults")?;
    rig.down(true)?;
    rig.up(&Component::ALL)?;
    let outcome = run(&plan, lynceus, &rig);
    match &outcome {
        Ok(()) => rig.down(true)?,
        // What went wrong has to be looked at.
        Err(_) => println!("faults: the cluster is left running: {}", rig.kubeconfig().display()),
    }
    outcome
}

fn run(plan: &Plan, lynceus: &Path, rig: &Rig) -> Result<(), String> {
    let begun = Instant::now();
    let kubectl = Programs::ready()?.path("kubectl");
    let mut random = Random::new(plan.seed);
    let proxy = Proxy::start(rig.port(Component::ApiServer)?)?;
    let place = rig.directory().join("faults");
    let kubeconfig =
        through(&rig.product_kubeconfig(), rig.port(Component::ApiServer)?, proxy.port(), &place)?;
    let mut fleet = Fleet::new(plan.applications, &place, &kubectl, &rig.kubeconfig())?;
    fleet.set_up(lynceus)?;
    let mut controllers = Controllers::new(lynceus, &kubeconfig, &place);
    controllers.start_first()?;
    let broken = break_things(plan, rig, &proxy, &mut random, &mut fleet, &mut controllers)?;
    println!("faults: {:.0} s, nothing breaks any more", begun.elapsed().as_secs_f64());
    controllers.ensure_running()?;
    let rested = fleet.wait_until_at_rest(REST);
    let seconds = begun.elapsed().as_secs();
    controllers.stop();
    rested?;
    let verdict = verdict::read(&rig.audit_log(), &fleet)?;
    println!(
        "faults: {seconds} s; the controller was killed {} times, the API server {} times, {} connections were cut, \
         {} commits arrived",
        broken.kills,
        broken.server_kills,
        proxy.cut_so_far(),
        fleet.commits(),
    );
    println!("faults: {} applications Synced and Healthy at the last commit\n{verdict}", plan.applications);
    verdict.passes()
}

/// What was broken.
#[derive(Default)]
struct Broken {
    kills: usize,
    server_kills: usize,
}

fn break_things(
    plan: &Plan,
    rig: &Rig,
    proxy: &Proxy,
    random: &mut Random,
    fleet: &mut Fleet,
    controllers: &mut Controllers,
) -> Result<Broken, String> {
    let mut broken = Broken::default();
    let (mut cut, mut commit, mut told) = (Instant::now(), Instant::now(), Instant::now());
    while broken.kills < plan.kills {
        let life = Duration::from_millis(random.between(LIFE));
        std::thread::sleep(life / 2);
        // In the middle of a life, when there is something to cut.
        if cut.elapsed() > CUT_EVERY && life > LONG {
            proxy.cut();
            cut = Instant::now();
        }
        std::thread::sleep(life / 2);
        controllers.kill_one(random)?;
        broken.kills += 1;
        // The second half has two replicas, which have to share.
        if broken.kills == plan.kills / 2 && plan.replicas > 1 {
            controllers.start_second()?;
        }
        if broken.kills * (SERVER_KILLS + 1) / plan.kills > broken.server_kills
            && broken.server_kills < SERVER_KILLS
        {
            rig.restart(Component::ApiServer)?;
            broken.server_kills += 1;
        }
        controllers.ensure_running()?;
        if commit.elapsed() > COMMIT_EVERY {
            fleet.commit(random)?;
            commit = Instant::now();
        }
        if told.elapsed() > TELL_EVERY {
            println!("faults: {} kills, {}", broken.kills, fleet.state());
            told = Instant::now();
        }
    }
    Ok(broken)
}

/// A kubeconfig that leads through the proxy.
fn through(kubeconfig: &Path, server: u16, proxy: u16, place: &Path) -> Result<PathBuf, String> {
    let text = std::fs::read_to_string(kubeconfig)
        .map_err(|error| format!("cannot read {}: {error}", kubeconfig.display()))?;
    std::fs::create_dir_all(place).map_err(|error| format!("cannot make {}: {error}", place.display()))?;
    let path = place.join("kubeconfig");
    let text = text.replace(&format!("127.0.0.1:{server}"), &format!("127.0.0.1:{proxy}"));
    std::fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(path)
}
