//! The table in a browser, one case after the other. The page shows the lines that cargo's test
//! runner would print, down to the closing one.

use std::panic;

use wasm_bindgen::prelude::wasm_bindgen;
use wharf::shadow::Capsule;
use wharf::{Adapter, Policy};

use crate::counts::Counts;
use crate::ctx::{Ctx, Size};
use crate::share::Share;
use crate::{cases, drivers, files};

#[wasm_bindgen]
extern "C" {
    /// A function of the page: shows a line.
    fn tell(line: &str);
}

/// Makes the passport of the browser's adapter, and shows it.
#[wasm_bindgen]
#[expect(unreachable_pub, reason = "what the page calls has to be public")]
pub async fn passport() {
    panic::set_hook(Box::new(|info| tell(&info.to_string())));
    let device = async {
        let adapter = Adapter::any().await?;
        adapter.open(adapter.negotiate(&Policy::exact())).await
    };
    match device.await {
        Ok(device) => {
            let passport = crate::passport::make(&device, |part| tell(&format!("{part} ..")));
            let passport = passport.await;
            tell(&passport.to_string());
        }
        Err(error) => tell(&format!("gpu tier: {error:?}")),
    }
}

/// Replays a capsule on the browser's adapter, and shows what came of it.
#[wasm_bindgen]
#[expect(unreachable_pub, reason = "what the page calls has to be public")]
pub async fn replay(file: Vec<u8>) {
    panic::set_hook(Box::new(|info| tell(&info.to_string())));
    let replayed = async {
        let capsule = Capsule::from_bytes(&file)?;
        let adapter = Adapter::any().await?;
        let device = adapter.open(adapter.negotiate(&Policy::exact())).await?;
        let replay = device.replay(&capsule).await?;
        let verdict = if replay.is_wrong { "wrong here as well" } else { "right here" };
        let (origin, operation) = (capsule.origin(), capsule.operation());
        Ok::<_, wharf::Error>(format!("{origin}\n{operation}\n{replay}\n{verdict}"))
    };
    match replayed.await {
        Ok(text) => tell(&text),
        Err(error) => tell(&format!("gpu tier: {error:?}")),
    }
}

/// Runs the cases whose names contain `filter` and that belong to `share` (`2/4`), on the browser's
/// adapter, which must be the `driver` named. After a panic there is no closing line.
#[wasm_bindgen]
#[expect(unreachable_pub, reason = "what the page calls has to be public")]
pub async fn run(filter: String, share: Option<String>, driver: Option<String>) {
    panic::set_hook(Box::new(|info| tell(&info.to_string())));
    let outcome = match share.as_deref().map(Share::parse).transpose() {
        Ok(share) => run_cases(&filter, share, driver.as_deref()).await,
        Err(message) => Err(message),
    };
    if let Err(message) = outcome {
        tell(&format!("gpu tier: {message}"));
    }
}

async fn run_cases(filter: &str, share: Option<Share>, driver: Option<&str>) -> Result<(), String> {
    let adapter = Adapter::any().await.map_err(|error| format!("{error:?}"))?;
    let mut cases = cases::all(&adapter);
    cases.retain(|case| case.size == Size::Usual);
    // A page that was carried elsewhere has no files beside it.
    if files::model().await.is_err() {
        let of_model = cases.iter_mut().filter(|case| case.name.starts_with("published::"));
        of_model.for_each(|case| case.absent = Some("a model".into()));
    }
    let all = cases.len();
    tell(&format!("{}, {all} cases", drivers::check_claim(adapter.caps(), driver)?));
    if let Some(driver) = driver {
        Counts::absent(&cases).check(&format!("{driver} {}", Size::Usual.name()))?;
    }
    cases.retain(|case| case.name.contains(filter) && share.is_none_or(|share| share.holds(case)));
    let ctx = Ctx::new(adapter);
    let (mut failed, mut ignored) = (0, 0);
    for case in &cases {
        if let Some(lacking) = &case.absent {
            tell(&format!("test {} ... ignored, not here: {lacking}", case.name));
            ignored += 1;
            continue;
        }
        // Printed before the case: after a panic this line shows which one it was.
        tell(&format!("{} ...", case.name));
        match (case.run)(&ctx).await {
            Ok(()) => tell(&format!("test {} ... ok", case.name)),
            Err(message) => {
                tell(&format!("test {} ... FAILED\n{message}", case.name));
                failed += 1;
            }
        }
    }
    tell(&cases::pair::summary(cases::pair::compared()));
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    let passed = cases.len() - failed - ignored;
    let filtered = all - cases.len();
    tell(&format!(
        "test result: {verdict}. {passed} passed; {failed} failed; {ignored} ignored; 0 measured; \
         {filtered} filtered out"
    ));
    Ok(())
}
