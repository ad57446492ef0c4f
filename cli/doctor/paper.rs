//! An adapter that is not here: what each dtype would become on it, and what would run.

use core::cell::RefCell;

use wharf::caps::{Caps, Limit, fixtures};
use wharf::explain::Explanation;
use wharf::plan::How;
use wharf::tensor::Attention;
use wharf::{Adapter, DType, Device, Error, Policy, Result, Tensor};

use super::adapters::driver;
use super::json::{self, Json};
use super::plan;
use super::table::{Page, Tone, bytes, clean, count, quote};

/// The adapter of `--on`; an error names those that are known.
pub(crate) fn known(text: &str) -> Result<Caps, String> {
    let all = fixtures::all();
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    let none = || format!("--on {} is none of {}", quote(text), names.join(" "));
    all.iter().find(|(name, _)| *name == text).map(|(_, caps)| caps.clone()).ok_or_else(none)
}

/// Where it is computed. Operands are held, so that no result takes their place.
struct Scene<'a> {
    device: &'a Device,
    held: RefCell<Vec<Tensor>>,
}

/// What people compute, and how large.
struct Work {
    name: &'static str,
    size: &'static str,
    make: fn(&Scene<'_>) -> Result<Tensor>,
}

const WORKS: [Work; 6] = [
    Work { name: "add", size: "4096 x 4096", make: |scene| square(scene)? + &square(scene)? },
    Work { name: "sum of rows", size: "4096 x 4096", make: |scene| square(scene)?.sum(1) },
    Work { name: "softmax", size: "4096 x 4096", make: |scene| square(scene)?.softmax(1) },
    Work {
        name: "product",
        size: "1024^3",
        make: |scene| blank(scene, &[1024, 1024])?.matmul(&blank(scene, &[1024, 1024])?),
    },
    Work { name: "two layers", size: "64 x 1024, 4096", make: layers },
    Work { name: "attention", size: "8 x 1024 x 64", make: attention },
];

fn blank(scene: &Scene<'_>, dims: &[usize]) -> Result<Tensor> {
    let made = scene.device.blank(dims, DType::F32)?;
    scene.held.borrow_mut().push(made.clone());
    Ok(made)
}

fn square(scene: &Scene<'_>) -> Result<Tensor> {
    blank(scene, &[4096, 4096])
}

fn layers(scene: &Scene<'_>) -> Result<Tensor> {
    let x = blank(scene, &[64, 1024])?;
    let (up, bias) = (blank(scene, &[4096, 1024])?, blank(scene, &[4096])?);
    let inner = x.layer_norm(1, None, None, 1e-5)?.linear(&up, Some(&bias))?.gelu()?;
    x + &inner.linear(&blank(scene, &[1024, 4096])?, None)?
}

fn attention(scene: &Scene<'_>) -> Result<Tensor> {
    let [queries, keys, values] = [(); 3].map(|()| blank(scene, &[8, 1024, 64]));
    let seen = queries?.attention(&keys?, &values?, &Attention::new().causal())?;
    // As a model goes on with it: the heads of a query together.
    seen.permute([1, 0, 2])
}

/// One work, told by the adapter's own kernels.
struct Told {
    work: &'static Work,
    explanation: Explanation,
}

impl Told {
    fn of(work: &'static Work, device: &Device) -> Self {
        let failed = |error| {
            let mut told = Explanation::default();
            told.error = Some(error);
            told
        };
        let scene = Scene { device, held: RefCell::default() };
        let explanation = (work.make)(&scene).map_or_else(failed, |tensor| tensor.explain());
        Self { work, explanation }
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.explanation.kernels.iter().map(|run| run.name()).collect();
        names.join(", ")
    }

    fn remarks(&self) -> impl Iterator<Item = &str> {
        self.explanation.kernels.iter().flat_map(|run| &run.remarks).map(String::as_str)
    }

    fn bytes(&self) -> u64 {
        self.explanation.kernels.iter().map(|run| run.bytes).sum()
    }
}

/// What there is to say, and how good that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Exact,
    Refuses,
    Unfit,
}

impl Verdict {
    fn of(opened: &Result<Device>, told: &[Told]) -> Self {
        let Ok(device) = opened else { return Self::Unfit };
        if told.iter().any(|told| told.explanation.error.is_some()) {
            return Self::Unfit;
        }
        let refuses = device.plan().carriages().iter().any(|c| c.how == How::Rejected);
        if refuses { Self::Refuses } else { Self::Exact }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Exact => "healthy",
            Self::Refuses => "usable",
            Self::Unfit => "none",
        }
    }

    const fn tone(self) -> Tone {
        match self {
            Self::Exact => Tone::Good,
            Self::Refuses => Tone::Caution,
            Self::Unfit => Tone::Bad,
        }
    }
}

/// Plans and explains on an adapter of which only the capabilities are here; returns the exit code.
pub(crate) async fn check_up(page: &mut Page, caps: &Caps, as_json: bool) -> u8 {
    let adapter = Adapter::on_paper(caps.clone());
    let opened = adapter.open(adapter.negotiate(&Policy::exact())).await;
    let tell = |device| WORKS.iter().map(|work| Told::of(work, device)).collect();
    let told: Vec<Told> = opened.as_ref().map_or_else(|_| Vec::new(), tell);
    let verdict = Verdict::of(&opened, &told);
    if as_json {
        page.json(&report(&adapter, &opened, &told, verdict));
        return verdict as u8;
    }
    identity(page, caps);
    plan::show(page, &adapter);
    page.heading("Runs", "what would be computed there, and by which kernels; nothing is computed");
    told.iter().for_each(|told| show(page, told));
    if let Err(error) = &opened {
        page.error(error);
    }
    page.blank();
    page.line(&[(verdict.tone(), &line(&adapter, verdict))]);
    verdict as u8
}

fn identity(page: &Page, caps: &Caps) {
    let id = &caps.identity;
    page.heading("On paper", &format!("{} ({}) is not here", clean(&id.name), id.backend.name()));
    let size = |limit| bytes(caps.limits.get(limit));
    let limits = format!(
        "a buffer {}, a binding {}, memory of a workgroup {}; {} buffers to a kernel",
        size(Limit::BufferBytes),
        size(Limit::BindingBytes),
        size(Limit::GroupStorage),
        caps.limits.get(Limit::StorageBuffers),
    );
    let kind = format!("{}, memory {}", id.device_type.name(), id.device_type.memory().name());
    let rows = [
        ("kind", kind),
        ("driver", driver(id)),
        ("features", caps.features.to_string()),
        ("at most", limits),
    ];
    for (title, text) in rows {
        page.row(&[(Tone::Plain, "", 2), (Tone::Dim, title, 10)], (Tone::Plain, &text));
    }
}

fn show(page: &Page, told: &Told) {
    let Told { work: Work { name, size, .. }, explanation } = told;
    let head = [(Tone::Plain, "", 2), (Tone::Bold, name, 13), (Tone::Plain, size, 17)];
    if let Some(error) = &explanation.error {
        page.row(&head, (Tone::Bad, &error.to_string()));
        return;
    }
    let dispatches = match explanation.dispatches() {
        1 => "1 dispatch".into(),
        n => format!("{n} dispatches"),
    };
    let (bound, made) = (bytes(told.bytes()), bytes(explanation.bytes_allocated));
    let text = format!("{dispatches}, {bound} bound, {made} made: {}", told.names());
    page.row(&head, (Tone::Plain, &text));
    let because = [(Tone::Plain, "", 32), (Tone::Dim, "because", 9)];
    told.remarks().for_each(|remark| page.row(&because, (Tone::Dim, remark)));
}

fn line(adapter: &Adapter, verdict: Verdict) -> String {
    let id = &adapter.caps().identity;
    let place = format!("{} ({})", clean(&id.name), id.backend.name());
    let plan = adapter.negotiate(&Policy::exact());
    let refused = plan.carriages().iter().filter(|c| c.how == How::Rejected);
    let refused: Vec<&str> = refused.map(|carriage| carriage.dtype.name()).collect();
    let all = count(DType::ALL.len() as u64, "dtype");
    match verdict {
        Verdict::Exact => format!("healthy, on paper: all {all} would cross bit-exact on {place}"),
        Verdict::Refuses => format!(
            "usable (with refusals), on paper: {} of {all} would cross bit-exact; {} only if \
             converted",
            DType::ALL.len() - refused.len(),
            refused.join(", ")
        ),
        Verdict::Unfit => format!("not usable, on paper: {place} cannot run wharf"),
    }
}

/// The same as one object: that of a check of adapters that are here, and what would run.
fn report(adapter: &Adapter, opened: &Result<Device>, told: &[Told], verdict: Verdict) -> Json {
    let plan = adapter.negotiate(&Policy::exact());
    let runs = told.iter().map(|told| {
        let error = told.explanation.error.as_ref();
        Json::Object(vec![
            ("name", told.work.name.into()),
            ("size", told.work.size.into()),
            ("kernels", Json::list(&told.explanation.kernels, |run| run.name().into())),
            ("because", Json::List(told.remarks().map(Json::from).collect())),
            ("dispatches", Json::Number(told.explanation.dispatches() as u64)),
            ("bytes_bound", Json::Number(told.bytes())),
            ("bytes_made", Json::Number(told.explanation.bytes_allocated)),
            ("error", error.map(Error::to_string).into()),
        ])
    });
    let error = opened.as_ref().err();
    Json::Object(vec![
        ("verdict", verdict.word().into()),
        ("adapters", Json::List(vec![json::adapter(adapter.caps(), false, "on paper".into())])),
        ("plan", Json::list(plan.carriages(), json::carriage)),
        ("crossings", Json::List(Vec::new())),
        ("runs", Json::List(runs.collect())),
        ("diagnosis", Json::List(error.map(json::unfit).into_iter().collect())),
    ])
}
