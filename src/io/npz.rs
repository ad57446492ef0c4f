//! npz: arrays of numpy's by name, each an npy that is a member of a zip, stored (`np.savez`) or
//! deflated (`np.savez_compressed`).
//!
//! Members are read from the front and inflated piece by piece, and their checksums compared.

use std::path::Path;
use std::sync::{Arc, Mutex};

use super::entry::{FileTensor, Opened};
use super::file::Pieces;
use super::npy::Described;
use crate::error::Result;

mod directory;
mod member;
#[cfg(not(target_family = "wasm"))]
mod save;

use directory::ZipMember;
use member::{Flow, MemberPart};

/// A zip begins with a member, or with its end.
pub(super) fn begins(begin: &[u8]) -> bool {
    begin.starts_with(directory::MEMBER) || begin.starts_with(directory::END)
}

/// The arrays of a file.
pub(super) fn open(file: &Arc<Pieces>, _: Option<&Path>) -> Result<Opened> {
    let arrays = directory::members(file)?.into_iter().map(|member| {
        let name = member.name.clone();
        array(file, member).map_err(|error| error.during(format!("member \"{name}.npy\"")))
    });
    Ok((arrays.collect::<Result<_>>()?, None))
}

fn array(file: &Arc<Pieces>, member: ZipMember) -> Result<FileTensor> {
    let mut flow = Flow::open(file, &member);
    let described = Described::read(member.bytes, |out| flow.read(&member, out))?;
    let Described { begin, shape, layout, descr, dtype } = described;
    let name = Arc::from(&*member.name);
    let bytes = if member.deflated { member.packed } else { member.bytes - begin };
    let supply = dtype.map(|dtype| {
        let (file, flows) = (Arc::clone(file), Mutex::default());
        Arc::new(MemberPart { file, member, begin, dtype, layout, flows }) as Arc<_>
    });
    let dtype_name = Arc::from(descr);
    Ok(FileTensor { name, shape, dtype_name, bytes, supply, blocks: None })
}
