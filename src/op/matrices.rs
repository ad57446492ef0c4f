//! What is said of matrices: nothing of an element of a factor or of an inverse, but of what they
//! are multiplied back to.

use core::fmt::Write as _;

/// What, times `(n + 16) eps`, and what each element of the difference is counted in.
const TABLE: [(&str, f64, &str, &str); 5] = [
    ("cholesky", 1.0, "L L^T - A", "abs(L) abs(L)^T"),
    ("solve_triangular", 1.0, "T X - B", "abs(T) abs(X) + abs(B)"),
    ("lu", 1.0, "L U - A, rows in order", "abs(L) abs(U)"),
    ("solve", 3.0, "A X - B, rows in order", "abs(L) abs(U) abs(X) + abs(B)"),
    ("inv", 3.0, "A X - 1, rows in order", "abs(L) abs(U) abs(X) + 1"),
];

/// How far an element of what the results of an operation on `n` x `n` matrices multiply back to
/// may be from what it should be, in units of the product of the magnitudes: see the table. `None`
/// for other operations.
#[must_use]
pub fn matrix_room(name: &str, n: usize) -> Option<f64> {
    let (_, times, ..) = TABLE.iter().find(|(known, ..)| *known == name)?;
    Some(times * (n as f64 + 16.0) * f64::from(f32::EPSILON))
}

/// The contract of every operation on matrices of f32, as a table for the documentation.
#[must_use]
pub fn matrix_table() -> String {
    let mut text = String::from("| | each element of | bound | of |\n|---|---|---|---|\n");
    for (name, times, difference, of) in TABLE {
        let times = if times == 1.0 { String::new() } else { format!("{times} ") };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| `{name}` | {difference} | {times}(n + 16) eps | {of} |");
    }
    text
}
