//! The numeric contract in the documentation is the one that is tested.

use wharf::op::{contract_table, reduction_table};

#[test]
fn the_documented_contract_is_the_tested_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/op/contract.md");
    let text = format!(
        "# The numeric contract\n\nA bound in ulp counts units in the last place of the exact \
         result, for f32; narrower floats add half a unit of their own. Subnormal numbers may \
         count as zero except where a result is exact on bits. [`Tolerance`] says it in \
         full.\n\n{}\n\
         # Reductions\n\n{}",
        contract_table(),
        reduction_table()
    );
    if std::env::var_os("WHARF_GOLDENS").is_some() {
        std::fs::write(path, &text).expect("a writable checkout");
    }
    let documented = std::fs::read_to_string(path).expect("WHARF_GOLDENS=1 writes it");
    assert!(documented == text, "WHARF_GOLDENS=1 brings {path} up to date:\n{text}");
}
