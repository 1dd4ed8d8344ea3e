//! Who may ask the server next: a bounded rate of requests, shared fairly between applications.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lynceus_object::Str;
use tokio::sync::oneshot;
use tokio::time::Instant;

tokio::task_local! {
    static APPLICATION: Str;
}

/// Does work on behalf of an application: its requests wait their turn among those of the other applications, so that
/// one that has a thousand to make does not keep the others from making theirs.
pub async fn on_behalf_of<T>(application: Str, work: impl Future<Output = T>) -> T {
    APPLICATION.scope(application, work).await
}

/// On whose behalf a request is made, among its extensions: for whoever stands between us and the server. It is never sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behalf(pub Str);

/// The application that the current task works for; empty for none.
pub(crate) fn application() -> Str {
    APPLICATION.try_with(Clone::clone).unwrap_or_default()
}

/// How many requests a cluster is asked per second, and how many at once after a quiet time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Requests per second in the long run; infinite for no bound.
    pub per_second: f64,
    /// Requests that may follow each other without a pause.
    pub burst: u32,
}

impl Default for Rate {
    fn default() -> Self {
        Rate { per_second: 50.0, burst: 100 }
    }
}

impl Rate {
    /// No bound, for a server in our own process.
    pub const UNBOUNDED: Rate = Rate { per_second: f64::INFINITY, burst: u32::MAX };

    /// Reads `ARGOCD_K8S_CLIENT_QPS` and `ARGOCD_K8S_CLIENT_BURST`. Without a burst of its own it is twice the rate;
    /// what is no positive number counts as not set.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let positive = |name| variable(name)?.trim().parse::<f64>().ok().filter(|number| *number > 0.0);
        let per_second = positive("ARGOCD_K8S_CLIENT_QPS").unwrap_or(Rate::default().per_second);
        let burst = positive("ARGOCD_K8S_CLIENT_BURST").unwrap_or(per_second * 2.0);
        // The cast saturates, which is what a number too large means.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Rate { per_second, burst: (burst as u32).max(1) }
    }
}

/// Hands out turns at a [`Rate`]. Clones share it.
#[derive(Clone)]
pub(crate) struct Turns {
    rate: Rate,
    line: Arc<Mutex<Line>>,
}

/// Those who wait, and what there is to hand out.
struct Line {
    tokens: f64,
    counted_at: Instant,
    waiting: HashMap<Str, VecDeque<oneshot::Sender<()>>>,
    /// The applications that wait, the next to be served first.
    order: VecDeque<Str>,
    /// Whether a task is handing out turns; there is one exactly while somebody waits.
    served: bool,
}

impl Turns {
    pub(crate) fn new(rate: Rate) -> Self {
        let line = Line {
            tokens: f64::from(rate.burst),
            counted_at: Instant::now(),
            waiting: HashMap::new(),
            order: VecDeque::new(),
            served: false,
        };
        Turns { rate, line: Arc::new(Mutex::new(line)) }
    }

    /// Waits for a turn, as the application that the current task works for.
    pub(crate) async fn next(&self) {
        if self.rate.per_second.is_infinite() {
            return;
        }
        let turn = {
            let mut line = self.line();
            line.count(self.rate);
            if line.order.is_empty() && line.tokens >= 1.0 {
                line.tokens -= 1.0;
                return;
            }
            let turn = line.join(application());
            if !std::mem::replace(&mut line.served, true) {
                tokio::spawn(self.clone().serve());
            }
            turn
        };
        // The one who serves lives as long as somebody waits.
        let _ = turn.await;
    }

    /// Hands out turns until nobody waits.
    async fn serve(self) {
        loop {
            let pause = {
                let mut line = self.line();
                line.count(self.rate);
                while line.tokens >= 1.0 && line.call_next() {
                    line.tokens -= 1.0;
                }
                if line.order.is_empty() {
                    line.served = false;
                    return;
                }
                (1.0 - line.tokens) / self.rate.per_second
            };
            tokio::time::sleep(Duration::from_secs_f64(pause.clamp(0.001, 60.0))).await;
        }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Line {
    fn count(&mut self, rate: Rate) {
        let now = Instant::now();
        let passed = now.duration_since(self.counted_at).as_secs_f64();
        self.tokens = (self.tokens + passed * rate.per_second).min(f64::from(rate.burst));
        self.counted_at = now;
    }

    fn join(&mut self, application: Str) -> oneshot::Receiver<()> {
        let (call, turn) = oneshot::channel();
        if !self.waiting.contains_key(&application) {
            self.order.push_back(application.clone());
        }
        self.waiting.entry(application).or_default().push_back(call);
        turn
    }

    /// Gives the next application in line a turn and sends it to the end; `false` if nobody waits any more.
    fn call_next(&mut self) -> bool {
        while let Some(application) = self.order.pop_front() {
            let Some(calls) = self.waiting.get_mut(&application) else { continue };
            // Those who gave up waiting take no turn.
            let called = std::iter::from_fn(|| calls.pop_front()).any(|call| call.send(()).is_ok());
            if calls.is_empty() {
                self.waiting.remove(&application);
            } else {
                self.order.push_back(application);
            }
            if called {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets every application make its requests at once, and gives the order in which they came through, with the
    /// tenths of a second that had passed.
    async fn served(rate: Rate, requests: &[(&str, usize)]) -> Vec<(String, u128)> {
        let turns = Turns::new(rate);
        let start = Instant::now();
        let (done, mut order) = tokio::sync::mpsc::unbounded_channel();
        for (application, count) in requests {
            for _ in 0..*count {
                let (turns, done) = (turns.clone(), done.clone());
                let name = (*application).to_owned();
                tokio::spawn(on_behalf_of(Str::from(*application), async move {
                    turns.next().await;
                    let _ = done.send((name, start.elapsed().as_millis() / 100));
                }));
            }
        }
        drop(done);
        let mut all = Vec::new();
        while let Some(one) = order.recv().await {
            all.push(one);
        }
        all
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_goes_at_once_and_the_rest_at_the_rate() {
        let times: Vec<u128> = served(Rate { per_second: 10.0, burst: 3 }, &[("a", 6)])
            .await
            .into_iter()
            .map(|one| one.1)
            .collect();
        assert_eq!(times, [0, 0, 0, 1, 2, 3]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_application_with_many_requests_does_not_keep_another_waiting() {
        let order = served(Rate { per_second: 10.0, burst: 1 }, &[("large", 50), ("small", 2)]).await;
        let small: Vec<usize> =
            order.iter().enumerate().filter(|(_, one)| one.0 == "small").map(|(at, _)| at).collect();
        assert_eq!(small, [2, 4], "{order:?}");
        assert_eq!(order.len(), 52);
    }

    #[tokio::test(start_paused = true)]
    async fn who_gives_up_takes_no_turn() {
        let turns = Turns::new(Rate { per_second: 1.0, burst: 1 });
        turns.next().await;
        let start = Instant::now();
        let impatient = tokio::time::timeout(Duration::from_millis(10), turns.next()).await;
        assert!(impatient.is_err());
        turns.next().await;
        assert_eq!(start.elapsed().as_millis() / 100, 10);
    }

    #[test]
    fn the_rate_is_read_as_argo_cd_reads_it() {
        let read = |qps: Option<&str>, burst: Option<&str>| {
            Rate::read(|name| if name.ends_with("QPS") { qps } else { burst }.map(str::to_owned))
        };
        assert_eq!(read(None, None), Rate::default());
        assert_eq!(read(Some("20"), None), Rate { per_second: 20.0, burst: 40 });
        assert_eq!(read(Some("-1"), Some("7")), Rate { per_second: 50.0, burst: 7 });
    }
}
