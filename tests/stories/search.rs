//! Faults as a search: every story is played with a failure at each of its calls in turn. What a
//! step gives must be what it gives without one, or the typed error of that failure; what failed
//! for a while must succeed when it is tried again; and nothing may be left behind.

use std::fmt;

use wharf::testing::{Call, Inside};
use wharf::{Device, ErrorKind};

use super::story::{Player, Seen, Step, draw};

/// A failure, and the number of the call that meets it, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// One call fails. Memory is short only this once.
    Once(Call, u64),
    /// Memory stays away until a step has said so.
    Stays(u64),
    /// The device is lost after a submission.
    Loss(u64),
    /// A read is begun, dropped, and begun again.
    Dropped(u64),
}

impl Fault {
    /// Every kind of failure, met by the call with this number.
    fn all(n: u64) -> [Self; 7] {
        let once = |call| Self::Once(call, n);
        let calls = [Call::Allocation, Call::Submission, Call::Mapping, Call::MemoryOfSubmission];
        let [allocation, submission, mapping, memory] = calls.map(once);
        let [stays, loss, dropped] = [Self::Stays(n), Self::Loss(n), Self::Dropped(n)];
        [allocation, submission, mapping, memory, stays, loss, dropped]
    }

    fn arm(self, device: &Device, player: &mut Player<'_>) {
        match self {
            Self::Once(call, n) => device.fail(call, n..n + 1),
            Self::Stays(n) => device.fail(Call::Allocation, n..u64::MAX),
            Self::Loss(n) => device.lose_after(n + 1),
            Self::Dropped(n) => player.drop_read(n),
        }
    }

    /// What a step says that has met it, if it says so.
    fn kind(self) -> Option<ErrorKind> {
        match self {
            Self::Once(Call::Allocation | Call::MemoryOfSubmission, _) | Self::Stays(_) => {
                Some(ErrorKind::OutOfMemory)
            }
            Self::Once(..) => Some(ErrorKind::Driver),
            Self::Loss(_) => Some(ErrorKind::DeviceLost),
            Self::Dropped(_) => None,
        }
    }

    /// Whether the same step succeeds when it is tried again. What was submitted in vain does not:
    /// its results are poisoned.
    fn passes(self) -> bool {
        !matches!(self, Self::Once(Call::Submission, _) | Self::Loss(_))
    }
}

/// What is searched, and how far.
pub(crate) struct Search {
    pub(crate) seed: u64,
    /// Steps of a story.
    pub(crate) length: usize,
    /// Steps to take in all.
    pub(crate) steps: u64,
    /// Whether kernels run. Else only values that are copied can be compared.
    pub(crate) computes: bool,
}

/// What a search did.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) stories: u64,
    pub(crate) steps: u64,
    /// Failures that were met.
    pub(crate) met: u64,
    /// Steps that said so.
    pub(crate) said: u64,
    /// Reads that were dropped once they were begun.
    pub(crate) dropped: u64,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stories, steps, met, said, dropped } = self;
        write!(f, "{steps} steps of {stories} stories, {met} failures met, {said} told")?;
        write!(f, ", {dropped} reads dropped")
    }
}

/// How a failure was met.
struct Met {
    /// Steps that said so.
    said: u64,
    /// Whether a read was dropped.
    dropped: bool,
}

impl Search {
    /// Plays stories until enough steps were taken. The error is the shortest story found that
    /// goes wrong in the same way.
    pub(crate) async fn run(
        &self,
        open: impl AsyncFn() -> Result<Device, String>,
    ) -> Result<Found, String> {
        let mut found = Found::default();
        for seed in self.seed.. {
            if found.steps >= self.steps {
                break;
            }
            found.stories += 1;
            let story = draw(seed, self.length);
            if let Err(first) = self.try_all(&open, &story, &mut found).await {
                let (story, last) = self.shrink(&open, story, first).await;
                let steps: String = story.iter().map(|step| format!("\n  {step:?}")).collect();
                // What is wrong comes last: of a long report often only the end is seen.
                return Err(format!("seed {seed}:{steps}\n{last}"));
            }
        }
        Ok(found)
    }

    /// A story with every failure at every call.
    async fn try_all(
        &self,
        open: &impl AsyncFn() -> Result<Device, String>,
        story: &[Step],
        found: &mut Found,
    ) -> Result<(), String> {
        let mut device = open().await?;
        let want = self.undisturbed(&device, story).await?;
        found.steps += story.len() as u64;
        for kind in 0..Fault::all(0).len() {
            for n in 0.. {
                let (fault, before) = (Fault::all(n)[kind], device.failures());
                let met = self.disturbed(&device, (story, &want), fault).await;
                let Met { said, dropped } = met.map_err(|what| format!("{fault:?}: {what}"))?;
                found.steps += story.len() as u64;
                found.said += said;
                found.dropped += u64::from(dropped);
                let failed = device.failures() > before;
                found.met += u64::from(failed);
                if !failed && !dropped {
                    break;
                }
                if let Fault::Loss(_) = fault {
                    device =
                        device.reopen().await.map_err(|error| format!("{fault:?}: {error}"))?;
                }
            }
        }
        Ok(())
    }

    /// What each step gives where nothing fails: twice the same.
    async fn undisturbed(&self, device: &Device, story: &[Step]) -> Result<Vec<Seen>, String> {
        device.fail(Call::Allocation, 0..0);
        let mut all = Vec::new();
        let mut player = Player::new(device);
        for &step in story {
            all.push(player.step(step).await);
        }
        drop(player);
        nothing_is_left(device, true)?;
        Ok(all)
    }

    /// Plays it once with a failure, and finds what comes of that as it should be.
    async fn disturbed(
        &self,
        device: &Device,
        (story, want): (&[Step], &[Seen]),
        fault: Fault,
    ) -> Result<Met, String> {
        let mut player = Player::new(device);
        fault.arm(device, &mut player);
        // What cannot be known any more.
        let mut unknown = Vec::new();
        let mut said = 0;
        for (at, (&step, want)) in story.iter().zip(want).enumerate() {
            if step.reads().any(|place| unknown.contains(&place)) {
                step.writes().for_each(|place| player.forget(place));
                unknown.extend(step.writes());
                continue;
            }
            let place = || format!("step {at}, {:?}", step.what);
            let copied = step.reads().all(|place| player.copied[place]);
            let same = |got: &Seen| match (got, want) {
                (Seen::Values(got), Seen::Values(want)) if !self.computes && !copied => {
                    got.len() == want.len()
                }
                // Nothing is refused by values that were not computed.
                (Seen::Values(_), Seen::Refused(ErrorKind::Conversion, _)) => !self.computes,
                (got, want) => got == want,
            };
            let mut got = player.step(step).await;
            let told = matches!(&got, Seen::Refused(kind, _) if Some(*kind) == fault.kind());
            if told && !same(&got) {
                said += 1;
                if fault.passes() {
                    device.fail(Call::Allocation, 0..0);
                    got = player.step(step).await;
                } else {
                    step.writes().for_each(|place| player.forget(place));
                    unknown.extend(step.writes());
                    continue;
                }
            }
            unknown.retain(|place| !player.holds(*place));
            if !same(&got) {
                return Err(format!("{}: {got:?}, not {want:?}", place()));
            }
        }
        let dropped = player.has_dropped();
        drop(player);
        nothing_is_left(device, !matches!(fault, Fault::Loss(_)))?;
        Ok(Met { said, dropped })
    }

    /// Leaves steps out as long as something goes wrong.
    async fn shrink(
        &self,
        open: &impl AsyncFn() -> Result<Device, String>,
        mut story: Vec<Step>,
        mut what: String,
    ) -> (Vec<Step>, String) {
        let mut at = 0;
        while at < story.len() {
            let mut shorter = story.clone();
            shorter.remove(at);
            match self.try_all(open, &shorter, &mut Found::default()).await {
                Err(still) => (story, what) = (shorter, still),
                Ok(()) => at += 1,
            }
        }
        (story, what)
    }
}

/// No tensor is alive, and on a device that still answers no buffer either.
fn nothing_is_left(device: &Device, answers: bool) -> Result<(), String> {
    device.fail(Call::Allocation, 0..0);
    if answers {
        device.trim().map_err(|error| format!("trimming at the end: {error}"))?;
    }
    let memory = device.memory();
    let reserved = if answers { memory.bytes_reserved } else { 0 };
    match (memory.bytes_live, memory.tensors, reserved) {
        (0, 0, 0) => Ok(()),
        _ => Err(format!("something is left at the end:\n{memory}")),
    }
}
