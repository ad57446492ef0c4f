//! Several files of safetensors, and the index that says which tensor lies where.
//!
//! ```text
//! {"metadata": {..}, "weight_map": {"name": "model-00001-of-00002.safetensors", ..}}
//! ```

use core::fmt;
use core::marker::PhantomData;
use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::{Component, Path};
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

use super::cause::ArchiveCause;
use super::entry::Opened;
use super::file::Pieces;
use super::remark::Remarked;
use super::safetensors::{self, HeaderText};
use crate::error::Result;

/// The most bytes of an index: several times that of the largest that are published.
const INDEX_MAX: u64 = 32 << 20;

/// JSON begins with a brace; a length of that many bytes no header has.
pub(super) fn begins(begin: &[u8]) -> bool {
    begin.trim_ascii_start().first() == Some(&b'{')
        && begin.get(..8).is_none_or(|length| {
            length.iter().rev().fold(0u64, |n, &byte| n << 8 | u64::from(byte)) > INDEX_MAX
        })
}

/// The tensors of all files that an index names.
pub(super) fn open(index: &Arc<Pieces>, path: Option<&Path>) -> Result<Opened> {
    let path = path.ok_or(ArchiveCause::Alone)?;
    if index.len > INDEX_MAX {
        let what = "an index";
        return Err(ArchiveCause::Large { what, bytes: index.len, most: INDEX_MAX }.into());
    }
    let stream = BufReader::new(index.stream(0, index.len));
    let Index(places) = safetensors::parse(stream, PhantomData)?;
    let mut files: BTreeMap<&str, Opened> = BTreeMap::new();
    for file in places.values() {
        if !files.contains_key(&**file) {
            files.insert(file, shard(path, file)?);
        }
    }
    let mut there = 0;
    for (file, (tensors, _)) in &files {
        for tensor in tensors {
            let here = (*file).to_owned();
            let cause = match places.get(&*tensor.name) {
                Some(place) if place == file => {
                    there += 1;
                    continue;
                }
                Some(place) => ArchiveCause::Elsewhere { file: here, place: place.clone() },
                None => ArchiveCause::NotInIndex { file: here },
            };
            return Err(during(cause, &tensor.name));
        }
    }
    if there < places.len() {
        let has = |file: &str, name: &str| {
            files.get(file).is_some_and(|(all, _)| all.iter().any(|tensor| &*tensor.name == name))
        };
        if let Some((name, file)) = places.iter().find(|(name, file)| !has(file, name)) {
            return Err(during(ArchiveCause::NotInShard { file: file.clone() }, name));
        }
    }
    let (tensors, mut remarked): (Vec<_>, Vec<_>) = files.into_values().unzip();
    Ok((tensors.into_iter().flatten().collect(), remarked.drain(..).next().flatten()))
}

fn during(cause: ArchiveCause, name: &str) -> crate::error::Error {
    crate::error::Error::from(cause).during(format!("tensor {name:?}"))
}

/// The tensors of one file, which lies beside the index.
fn shard(index: &Path, file: &str) -> Result<Opened> {
    let mut parts = Path::new(file).components();
    if !matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
        return Err(ArchiveCause::Shard { file: file.to_owned() }.into());
    }
    let opened = safetensors::open(&Pieces::beside(index, file)?, None);
    let (tensors, remarked) = opened.map_err(|error| error.during(format!("shard {file:?}")))?;
    let shard = Some(file.to_owned());
    Ok((tensors, remarked.map(|remarked| Remarked { shard, ..remarked })))
}

/// The file of every tensor.
struct Index(BTreeMap<String, String>);

/// A map of texts, each name once.
struct Texts(BTreeMap<String, String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Places;
        impl<'de> Visitor<'de> for Places {
            type Value = Texts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("files by the names of tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Texts, A::Error> {
                let mut texts = BTreeMap::new();
                while let Some((HeaderText(name), HeaderText(file))) = map.next_entry()? {
                    if texts.insert(name.clone(), file).is_some() {
                        return Err(A::Error::custom(format!("{name:?} is there twice")));
                    }
                }
                Ok(Texts(texts))
            }
        }
        from.deserialize_map(Places)
    }
}

impl<'de> Deserialize<'de> for Index {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Whole;
        impl<'de> Visitor<'de> for Whole {
            type Value = Index;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an index with a weight_map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Index, A::Error> {
                let mut places = None;
                while let Some(HeaderText(field)) = map.next_key()? {
                    if field != "weight_map" {
                        map.next_value::<IgnoredAny>()?;
                    } else if places.replace(map.next_value::<Texts>()?.0).is_some() {
                        return Err(A::Error::custom("\"weight_map\" is there twice"));
                    }
                }
                places.map(Index).ok_or_else(|| A::Error::missing_field("weight_map"))
            }
        }
        from.deserialize_map(Whole)
    }
}
