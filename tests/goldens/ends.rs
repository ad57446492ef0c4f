//! What `ml_dtypes` makes of floats of 8 bits: `eight/ends.txt`, by `eight/generate.py`.

/// One format: what its codes stand for, and where rounding changes.
pub(crate) struct Ends {
    values: Vec<f32>,
    /// The bits of the first f32 that is rounded to a code, in the order of those.
    pub(crate) firsts: Vec<u32>,
}

pub(crate) fn of_f8e4m3() -> Ends {
    Ends::of("f8e4m3")
}

pub(crate) fn of_f8e5m2() -> Ends {
    Ends::of("f8e5m2")
}

impl Ends {
    fn of(format: &str) -> Self {
        let (mut values, mut firsts) = (Vec::new(), Vec::new());
        for line in include_str!("eight/ends.txt").lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [name, code, stands, begins] = words[..] else { continue };
            if name != format {
                continue;
            }
            assert_eq!(usize::from_str_radix(code, 16), Ok(values.len()), "{line:?}");
            let bits = u32::from_str_radix(stands, 16).ok();
            values.push(bits.map_or(f32::NAN, f32::from_bits));
            firsts.extend(u32::from_str_radix(begins, 16).ok());
        }
        assert!(values.len() == 128 && firsts.len() >= 125, "all of {format}");
        Self { values, firsts }
    }

    /// What a code stands for.
    pub(crate) fn value(&self, code: u8) -> f32 {
        let value = self.values[usize::from(code & 0x7f)];
        if code > 0x7f { -value } else { value }
    }

    /// The code of a number; `None` of what is, or becomes, NaN, which only has to be one.
    pub(crate) fn code(&self, x: f32) -> Option<u8> {
        let size = x.abs().to_bits();
        let code = self.firsts.partition_point(|&first| first <= size) - 1;
        let is_number = !x.is_nan() && !self.values[code].is_nan();
        is_number.then_some(code as u8 | u8::from(x.is_sign_negative()) << 7)
    }
}
