//! What time it is: of the system, or of the page.

#[cfg(not(target_family = "wasm"))]
mod here {
    use std::sync::LazyLock;
    use std::time::{Instant, SystemTime, UNIX_EPOCH};

    /// Seconds since some moment.
    pub(crate) fn seconds() -> f64 {
        static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
        BEGAN.elapsed().as_secs_f64()
    }

    /// Seconds since 1970.
    pub(super) fn since_1970() -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }
}

#[cfg(target_family = "wasm")]
mod here {
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen]
    extern "C" {
        #[wasm_bindgen(js_namespace = performance)]
        fn now() -> f64;
        #[wasm_bindgen(js_namespace = Date, js_name = now)]
        fn date_now() -> f64;
    }

    /// Seconds since some moment.
    pub(crate) fn seconds() -> f64 {
        now() / 1e3
    }

    /// Seconds since 1970.
    pub(super) fn since_1970() -> u64 {
        (date_now() / 1e3) as u64
    }
}

pub(crate) use here::seconds;

/// The day it is, in UTC: `2026-11-24`.
pub(crate) fn today() -> String {
    date(here::since_1970() / 86_400)
}

/// The date of a day, counted from the first of 1970.
fn date(mut day: u64) -> String {
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let mut months =
        [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].into_iter();
    let mut month = 1;
    while let Some(days) = months.next().filter(|days| day >= *days) {
        day -= days;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", day + 1)
}

#[cfg(test)]
mod tests {
    #[test]
    fn days_have_dates() {
        for (day, date) in [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (789, "1972-02-29"),
            (11_016, "2000-02-29"),
            (20_781, "2026-11-24"),
            (20_818, "2026-12-31"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(super::date(day), date, "day {day}");
        }
    }
}
