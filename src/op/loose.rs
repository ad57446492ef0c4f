//! Why a contract is wider than what any driver needs that it was tried on: what WGSL allows the
//! builtins that a function calls, and what many terms can add up to.

pub(super) const DIV: &str = "`/` may be off by 2.5 ulp";
pub(super) const EXP: &str = "`exp` may be off by 3 + 2 abs(x) ulp";
pub(super) const TERMS: &str = "the more terms, the more roundings";
