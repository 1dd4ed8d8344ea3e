//! What a sync will do, in order.

use std::fmt;

use lynceus_api::SyncPhase;

use crate::order;
use crate::task::{Fault, Task};

/// What a sync will do: phases in order, waves in each, tasks in each wave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The phases that have tasks.
    pub phases: Vec<Phase>,
}

/// One phase of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Which one.
    pub phase: SyncPhase,
    /// Its waves, lowest first.
    pub waves: Vec<Wave>,
}

/// One wave of a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Wave {
    /// Its number.
    pub wave: i64,
    /// Its tasks in the order in which they are carried out.
    pub tasks: Vec<Task>,
}

impl Plan {
    /// Orders tasks into a plan.
    pub(crate) fn new(mut tasks: Vec<Task>) -> Self {
        order::sort(&mut tasks);
        let mut plan = Plan::default();
        for task in tasks {
            plan.push(task);
        }
        plan
    }

    fn push(&mut self, task: Task) {
        if self.phases.last().is_none_or(|phase| phase.phase != task.phase) {
            self.phases.push(Phase { phase: task.phase, waves: Vec::new() });
        }
        let Some(phase) = self.phases.last_mut() else { return };
        match phase.waves.last_mut() {
            Some(wave) if wave.wave == task.wave => wave.tasks.push(task),
            _ => phase.waves.push(Wave { wave: task.wave, tasks: vec![task] }),
        }
    }

    /// All tasks in order.
    pub fn tasks(&self) -> impl Iterator<Item = &Task> + Clone {
        self.phases.iter().flat_map(|phase| &phase.waves).flat_map(|wave| &wave.tasks)
    }

    /// Whether there is nothing to change: everything is as desired, and no hook is to run.
    pub fn is_empty(&self) -> bool {
        self.tasks().all(Task::is_unmodified)
    }

    /// Whether every task can be carried out.
    pub fn is_valid(&self) -> bool {
        !self.tasks().any(|task| matches!(task.fault, Some(Fault::Invalid(_))))
    }
}

/// One line per phase, wave and task, indented.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for phase in &self.phases {
            writeln!(f, "{}", phase.phase)?;
            for wave in &phase.waves {
                writeln!(f, "  wave {}", wave.wave)?;
                for task in &wave.tasks {
                    writeln!(f, "    {task}")?;
                }
            }
        }
        Ok(())
    }
}
