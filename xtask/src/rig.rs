//! `cargo xtask rig`: a real control plane on loopback, built once from its public sources.

mod build;
mod certificates;
mod client;
mod component;
mod furniture;
mod process;
mod release;
mod state;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub(crate) use self::build::{Programs, argocd_sources, cache, has_go, kubernetes_sources, oracle};
use self::certificates::{CLIENTS, Certificates};
use self::client::Client;
pub(crate) use self::component::Component;
use self::component::{Place, kubeconfig_path};
use self::process::Process;
pub(crate) use self::release::{ARGOCD, HELM_PROGRAMS, KUBECTL, KUBECTL_CONVERT, KUBERNETES, KUSTOMIZE};
use self::state::State;
use crate::run;

pub(crate) const USAGE: &str = "\
usage: cargo xtask rig up [--dir DIR] [--only A,B]         build what is missing, start what does not run
       cargo xtask rig down [--dir DIR] [--forget]         stop it; with --forget its data goes as well
       cargo xtask rig status [--dir DIR]                  say what runs, and how it is
       cargo xtask rig restart COMPONENT [--dir DIR]       kill one component, as a crash would, and start it again
       cargo xtask rig build                               only build the programs
";

/// How long a component may take until it is well. A cold start of all at once on a busy machine is slow.
const START: Duration = Duration::from_secs(120);
/// How long a port may take to be free again.
const RELEASE: Duration = Duration::from_secs(15);
const LOOK: Duration = Duration::from_millis(50);

pub(crate) fn main(arguments: &[String]) -> Result<(), String> {
    let mut words = Vec::new();
    let mut directory = None;
    let mut forget = false;
    let mut components = Component::ALL.to_vec();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--dir" => directory = Some(PathBuf::from(rest.next().ok_or("--dir needs a directory")?)),
            "--forget" => forget = true,
            "--only" => {
                let names = rest.next().ok_or("--only needs names with commas between")?;
                components = names.split(',').map(Component::named).collect::<Result<_, _>>()?;
            }
            flag if flag.starts_with('-') => return Err(format!("there is no flag {flag}\n\n{USAGE}")),
            word => words.push(word),
        }
    }
    let rig = || Rig::at(directory.clone());
    match words.as_slice() {
        ["up"] => {
            let rig = rig()?;
            rig.up(&components)?;
            println!("{}", rig.kubeconfig().display());
            Ok(())
        }
        ["down"] => rig()?.down(forget),
        ["status"] => rig()?.status(),
        ["restart", name] => rig()?.restart(Component::named(name)?),
        ["build"] => Programs::ready().map(drop),
        _ => Err(format!("this is not understood\n\n{USAGE}")),
    }
}

/// A control plane in a directory of its own. Several can live side by side.
#[derive(Clone, Debug)]
pub(crate) struct Rig {
    directory: PathBuf,
    api_server_flags: Vec<String>,
}

impl Rig {
    /// The rig of a directory; without one, that of the cache.
    pub(crate) fn at(directory: Option<PathBuf>) -> Result<Self, String> {
        let directory = match directory {
            Some(directory) => std::path::absolute(&directory)
                .map_err(|error| format!("{}: {error}", directory.display()))?,
            None => cache()?.join("rig/default"),
        };
        Ok(Rig { directory, api_server_flags: Vec::new() })
    }

    /// The rig of a purpose, for one run alone: a second run of the same waits for the end of the first, whose control
    /// plane it would pull down otherwise.
    pub(crate) fn alone(purpose: &str) -> Result<(Self, std::fs::File), String> {
        let rigs = cache()?.join("rig");
        std::fs::create_dir_all(&rigs).map_err(|error| format!("cannot make {}: {error}", rigs.display()))?;
        let turn = lock(&rigs.join(format!("{purpose}.turn")))?;
        Ok((Rig::at(Some(rigs.join(purpose)))?, turn))
    }

    /// The same with flags for the API server that come after the rig's own: of two of the same name the last counts.
    #[must_use]
    pub(crate) fn with_api_server_flags(mut self, flags: &[String]) -> Self {
        self.api_server_flags = flags.to_vec();
        self
    }

    /// The administrator's kubeconfig.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        kubeconfig_path(&self.directory, "admin")
    }

    /// The port of a component that has been started.
    pub(crate) fn port(&self, component: Component) -> Result<u16, String> {
        State::read(&self.directory).map(|state| state.port(component.name()))
    }

    /// The kubeconfig of the program under test, which may do everything under a name of its own.
    pub(crate) fn product_kubeconfig(&self) -> PathBuf {
        kubeconfig_path(&self.directory, "lynceus")
    }

    /// The directory that everything of this rig lies in.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The record of the writes, one JSON object in a line.
    pub(crate) fn audit_log(&self) -> PathBuf {
        self.directory.join("audit.log")
    }

    /// Starts those components that do not run, and waits until all of them are well.
    pub(crate) fn up(&self, components: &[Component]) -> Result<(), String> {
        let programs = Programs::ready()?;
        build::make_directory(&self.directory)?;
        let _lock = lock(&self.directory.join("lock"))?;
        let begun = Instant::now();
        let certificates = Certificates::ready(&self.directory.join("pki"))?;
        let mut state = State::read(&self.directory)?;
        if !state.any_running() && state.ports_are_taken() {
            state.forget_ports();
        }
        state.choose_ports()?;
        state.write(&self.directory)?;
        self.write_files(&certificates, &state)?;
        let client = Client::new(&certificates)?;
        let mut started = 0;
        for &component in components {
            if state.running(component.name()).is_none() {
                self.start(component, &programs, &certificates, &mut state)?;
                started += 1;
            }
            // The others need an API server that answers, or they give up.
            if component == Component::ApiServer {
                self.wait_for(component, &state, &client)?;
            }
        }
        for &component in components {
            self.wait_for(component, &state, &client)?;
        }
        if started > 0 {
            if components.contains(&Component::Kwok) {
                self.furnish(&programs)?;
            }
            eprintln!("rig: started {started} processes in {:.1} s", begun.elapsed().as_secs_f64());
        }
        Ok(())
    }

    /// Stops everything that this rig started, and nothing else.
    pub(crate) fn down(&self, forget: bool) -> Result<(), String> {
        if self.directory.is_dir() {
            let _lock = lock(&self.directory.join("lock"))?;
            let mut state = State::read(&self.directory)?;
            for component in Component::ALL.into_iter().rev() {
                if let Some(process) = state.running(component.name()) {
                    // A pod that nobody holds any more may end as it likes, but etcd closes its files.
                    if component == Component::Etcd {
                        process.stop()?
                    } else {
                        process.kill()?
                    }
                    eprintln!("rig: stopped {} ({})", component.name(), process.pid);
                }
                state.forget(component.name());
                state.write(&self.directory)?;
            }
        }
        if forget && self.directory.is_dir() {
            std::fs::remove_dir_all(&self.directory)
                .map_err(|error| format!("cannot remove {}: {error}", self.directory.display()))?;
        }
        Ok(())
    }

    /// Kills a component without warning and starts it again with the same data.
    pub(crate) fn restart(&self, component: Component) -> Result<(), String> {
        let programs = Programs::ready()?;
        let _lock = lock(&self.directory.join("lock"))?;
        let certificates = Certificates::ready(&self.directory.join("pki"))?;
        let mut state = State::read(&self.directory)?;
        if let Some(process) = state.running(component.name()) {
            process.kill()?;
        }
        self.start(component, &programs, &certificates, &mut state)?;
        self.wait_for(component, &state, &Client::new(&certificates)?)
    }

    fn status(&self) -> Result<(), String> {
        let state = State::read(&self.directory)?;
        if !state.any_running() {
            return Err(format!(
                "no rig runs in {}; start one with: cargo xtask rig up",
                self.directory.display()
            ));
        }
        let client = Client::new(&Certificates::ready(&self.directory.join("pki"))?)?;
        let mut all_well = true;
        println!("{:<26}{:<8}{:<8}{:<10}LOG", "COMPONENT", "PID", "PORT", "HEALTH");
        for component in Component::ALL {
            let name = component.name();
            let pid = state.running(name).map_or_else(|| "-".to_owned(), |process| process.pid.to_string());
            let (path, tls) = component.health();
            let health = match state.running(name) {
                None => "stopped",
                Some(_) if client.is_well(state.port(name), path, tls) => "ok",
                Some(_) => "not well",
            };
            all_well &= health == "ok";
            println!(
                "{name:<26}{pid:<8}{:<8}{health:<10}{}",
                state.port(name),
                self.log(component).display()
            );
        }
        println!("\nexport KUBECONFIG={}", self.kubeconfig().display());
        if all_well { Ok(()) } else { Err("not everything is well".to_owned()) }
    }

    fn log(&self, component: Component) -> PathBuf {
        self.directory.join(format!("{}.log", component.name()))
    }

    fn start(
        &self,
        component: Component,
        programs: &Programs,
        certificates: &Certificates,
        state: &mut State,
    ) -> Result<(), String> {
        let begun = Instant::now();
        while !state.port_is_free(component.name()) {
            if begun.elapsed() > RELEASE {
                return Err(format!(
                    "port {} of {} is taken",
                    state.port(component.name()),
                    component.name()
                ));
            }
            std::thread::sleep(LOOK);
        }
        let place = Place { directory: &self.directory, certificates, state };
        let mut command = component.command(programs, &place);
        if component == Component::ApiServer {
            command.args(&self.api_server_flags);
        }
        let process = Process::start(&mut command, &self.log(component))?;
        state.remember(component.name(), process);
        state.write(&self.directory)
    }

    fn wait_for(&self, component: Component, state: &State, client: &Client) -> Result<(), String> {
        let (path, tls) = component.health();
        let begun = Instant::now();
        let log = self.log(component);
        while !client.is_well(state.port(component.name()), path, tls) {
            if state.running(component.name()).is_none() {
                return Err(format!(
                    "{} ended; see {}\n{}",
                    component.name(),
                    log.display(),
                    last_lines(&log)
                ));
            }
            if begun.elapsed() > START {
                return Err(format!("{} did not get well; see {}", component.name(), log.display()));
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    fn write_files(&self, certificates: &Certificates, state: &State) -> Result<(), String> {
        build::write(&self.directory.join("audit-policy.yaml"), furniture::AUDIT_POLICY)?;
        build::write(&self.directory.join("stages.yaml"), &furniture::stages())?;
        for (file, _, _) in CLIENTS {
            let text = kubeconfig(file, certificates, state.port("kube-apiserver"));
            build::write(&kubeconfig_path(&self.directory, file), &text)?;
        }
        Ok(())
    }

    fn furnish(&self, programs: &Programs) -> Result<(), String> {
        let path = self.directory.join("furniture.yaml");
        build::write(&path, &furniture::objects())?;
        let mut kubectl = std::process::Command::new(programs.path("kubectl"));
        kubectl.arg("--kubeconfig").arg(self.kubeconfig());
        kubectl.args(["apply", "--server-side", "--force-conflicts", "--field-manager=rig", "-f"]).arg(&path);
        run::output(&mut kubectl).map(drop)
    }
}

fn kubeconfig(client: &str, certificates: &Certificates, port: u16) -> String {
    let path = |file: &str| certificates.path(file).display().to_string();
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: rig\n\
         clusters:\n- name: rig\n  cluster:\n    server: https://127.0.0.1:{port}\n    certificate-authority: {}\n\
         users:\n- name: {client}\n  user:\n    client-certificate: {}\n    client-key: {}\n\
         contexts:\n- name: rig\n  context: {{cluster: rig, user: {client}}}\n",
        path("ca.crt"),
        path(&format!("{client}.crt")),
        path(&format!("{client}.key")),
    )
}

/// Keeps others out until it is dropped.
fn lock(path: &Path) -> Result<std::fs::File, String> {
    let file =
        std::fs::File::create(path).map_err(|error| format!("cannot open {}: {error}", path.display()))?;
    file.lock().map_err(|error| format!("cannot lock {}: {error}", path.display()))?;
    Ok(file)
}

fn last_lines(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(8)..].join("\n")
}
