//! What files say besides their tensors.

use std::collections::BTreeMap;

use wharf::io::{Archive, Remark};
use wharf::{DType, ErrorKind, Result, TensorSet};

use super::capable;
use super::formats::{golden, model};

/// The bytes of a value: the number of its type, and what it is.
fn typed(kind: u32, value: &[u8]) -> Vec<u8> {
    [&kind.to_le_bytes(), value].concat()
}

/// What a text is in a file.
fn text(text: &[u8]) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text].concat()
}

/// A list of so many values of a type.
fn list(kind: u32, count: u64, values: &[u8]) -> Vec<u8> {
    typed(9, &[&kind.to_le_bytes()[..], &count.to_le_bytes(), values].concat())
}

fn all(archive: &Archive) -> BTreeMap<String, Remark> {
    archive.remarks(|_| true).expect("they mean something")
}

#[test]
fn remarks_of_a_model_are_of_every_type() {
    use Remark::{Bool, Float, Integer, List, Text};

    let words = [text(b"a"), text("ß".as_bytes())].concat();
    let rows = [
        ("u8", typed(0, &[255]), Integer(255)),
        ("i8", typed(1, &[255]), Integer(-1)),
        ("u16", typed(2, &[0, 128]), Integer(1 << 15)),
        ("i16", typed(3, &[0, 128]), Integer(-1 << 15)),
        ("u32", typed(4, &u32::MAX.to_le_bytes()), Integer(u32::MAX.into())),
        ("i32", typed(5, &i32::MIN.to_le_bytes()), Integer(i32::MIN.into())),
        ("f32", typed(6, &0.1f32.to_le_bytes()), Float(0.1f32.into())),
        ("bool", typed(7, &[1]), Bool(true)),
        ("text", typed(8, &text(b"llama")), Text("llama".into())),
        ("u64", typed(10, &u64::MAX.to_le_bytes()), Integer(u64::MAX.into())),
        ("i64", typed(11, &i64::MIN.to_le_bytes()), Integer(i64::MIN.into())),
        ("f64", typed(12, &0.1f64.to_le_bytes()), Float(0.1)),
        ("words", list(8, 2, &words), List(vec![Text("a".into()), Text("ß".into())])),
        // A list in a list, without the type of a value in front.
        ("lists", list(9, 1, &list(1, 2, &[1, 254])[4..]), {
            List(vec![List(vec![Integer(1), Integer(-2)])])
        }),
        ("none", list(6, 0, &[]), List(vec![])),
    ];
    let values: Vec<(&str, &[u8])> =
        rows.iter().map(|(name, value, _)| (*name, &**value)).collect();
    let archive = Archive::from_bytes(model(&values, &[], 32)).expect("it opens");
    let want = rows.into_iter().map(|(name, _, remark)| (name.to_owned(), remark));
    let want: BTreeMap<_, _> = want.collect();
    assert_eq!(all(&archive), want);
    let few = archive.remarks(|name| name.ends_with("64")).expect("they mean something");
    assert!(few.len() == 3 && few.iter().all(|(name, remark)| want[name] == *remark), "{few:?}");
}

#[test]
fn remarks_that_mean_nothing_are_errors_only_where_they_are_wanted() {
    let long = vec![0; (1 << 22) + 1];
    let rows = [
        (typed(7, &[7]), ErrorKind::File, "the header means nothing: 7 is no bool"),
        (typed(8, &text(&[255])), ErrorKind::File, "the header means nothing: a text is not UTF-8"),
        (
            list(0, long.len() as u64, &long),
            ErrorKind::Limit,
            "lists of 4194305 values, 4194304 are the most",
        ),
    ];
    for (value, kind, why) in rows {
        let file = model(&[("wrong", &value), ("right", &typed(7, &[0]))], &[], 32);
        let archive = Archive::from_bytes(file).expect("its tensors are known");
        let right = archive.remarks(|name| name == "right").expect("it is passed over");
        assert_eq!(right["right"], Remark::Bool(false), "{why}");
        let error = archive.remarks(|_| true).expect_err(why);
        let said = format!("a file in memory: remark \"wrong\": {why}");
        assert_eq!((error.kind(), error.to_string()), (kind, said));
        assert!(error.help().is_some(), "{error:?}");
    }
    let value = typed(7, &[0]);
    let archive = Archive::from_bytes(model(&[("a", &value), ("a", &value)], &[], 32));
    let error = archive.expect("its tensors are known").remarks(|_| true).expect_err("which one?");
    assert_eq!(error.to_string(), "a file in memory: \"a\" is there twice");
}

/// Of several files, whichever is opened.
#[test]
fn remarks_are_those_of_the_first_file() {
    let folder = super::scratch("remarked");
    std::fs::create_dir_all(&folder).expect("a folder");
    let shard = |place: u8| folder.join(format!("model-{place:05}-of-00002.gguf"));
    for place in 1..=2 {
        let of = [("split.no", typed(0, &[place - 1])), ("split.count", typed(0, &[2]))];
        let of: Vec<(&str, &[u8])> = of.iter().map(|(name, value)| (*name, &**value)).collect();
        std::fs::write(shard(place), model(&of, &[], 32)).expect("written");
    }
    for place in 1..=2 {
        let archive = Archive::open(shard(place)).expect("both are there");
        assert_eq!(all(&archive)["split.no"], Remark::Integer(0), "by {place}");
    }
    for (file, name) in [("first", "a"), ("second", "b")] {
        let mut set = TensorSet::new();
        set.insert(name, capable().ones([2], DType::F32).expect("small")).expect("new");
        let saved = set.save_with_remarks(folder.join(file), &BTreeMap::from([("of", file)]));
        let _ = saved.expect("written");
    }
    let index = folder.join("model.safetensors.index.json");
    std::fs::write(&index, r#"{"weight_map":{"b":"second","a":"first"}}"#).expect("written");
    let archive = Archive::open(&index).expect("both are there");
    assert_eq!(all(&archive)["of"], Remark::Text("first".into()));
    std::fs::write(folder.join("first"), [0; 40]).expect("written");
    let error = archive.remarks(|_| true).expect_err("it is another file").to_string();
    assert!(error.contains("index.json: shard \"first\": "), "{error}");
    let second = Archive::open(shard(2)).expect("both are there");
    std::fs::write(shard(1), [0; 40]).expect("written");
    let error = second.remarks(|_| true).expect_err("it is another file").to_string();
    assert!(error.contains("00002.gguf: shard \"model-00001-of-00002.gguf\": "), "{error}");
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn remarks_are_written_and_read_again() -> Result<()> {
    let device = capable();
    let mut set = TensorSet::new();
    set.insert("x", device.upload(&[1.0f32, 2.0], [2])?.0)?;
    let path = super::scratch("texts");
    let texts = BTreeMap::from([("format", "pt"), ("a \"quoted\" one", "two\nlines, \\ and ß")]);
    let _ = set.save_with_remarks(&path, &texts)?;
    let archive = Archive::open(&path)?;
    let want = texts.iter().map(|(name, text)| (name.to_string(), Remark::Text(text.to_string())));
    assert_eq!(all(&archive), want.collect());
    assert_eq!(archive.remarks(|name| name == "format")?.len(), 1);
    let (again, _) = device.upload_set(&archive.shipment()?)?;
    assert_eq!(again.get("x").expect("there").read_now::<f32>()?, [1.0, 2.0]);

    let _ = set.save(&path)?;
    assert!(all(&Archive::open(&path)?).is_empty(), "nothing is said unasked");
    let _ = std::fs::remove_file(&path);
    assert!(all(&Archive::open(golden("f4.npy"))?).is_empty(), "an array has none");
    Ok(())
}

/// A file is not wrong because it shrank once its header had been read.
#[test]
fn remarks_of_a_file_that_shrank_are_gone() {
    let device = capable();
    let mut set = TensorSet::new();
    set.insert("x", device.ones([2], DType::F32).expect("small")).expect("new");
    let path = super::scratch("shrunk");
    let saved = set.save_with_remarks(&path, &BTreeMap::from([("format", "pt")]));
    let _ = saved.expect("written");
    let safetensors = std::fs::read(&path).expect("there");
    for bytes in [safetensors, model(&[("a", &typed(7, &[0]))], &[], 32)] {
        std::fs::write(&path, &bytes).expect("written");
        let archive = Archive::open(&path).expect("it is whole");
        let whole = std::fs::OpenOptions::new().write(true).open(&path).expect("there");
        whole.set_len(20).expect("cut");
        let error = archive.remarks(|_| true).expect_err("cut short");
        let said = error.to_string();
        assert!(said.ends_with("are no longer there"), "{said}");
        assert!(!said.contains("means nothing") && !said.contains("cannot be read"), "{said}");
        assert!(error.help().is_some_and(|help| help.contains("was changed")), "{error:?}");
    }
    let _ = std::fs::remove_file(&path);
}

/// However short they are.
#[test]
fn texts_beyond_counting_are_refused() {
    let texts: Vec<String> = (0..=1 << 16).map(|i| format!("\"{i}\":\"\"")).collect();
    let header = format!("{{\"__metadata__\":{{{}}}}}", texts.join(","));
    let file = [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
    let (names, value) = ((0..=1 << 16).map(|i| i.to_string()), typed(7, &[0]));
    let names: Vec<String> = names.collect();
    let values: Vec<(&str, &[u8])> = names.iter().map(|name| (&**name, &*value)).collect();
    for file in [file, model(&values, &[], 32)] {
        let archive = Archive::from_bytes(file).expect("none of them is kept");
        let error = archive.remarks(|_| true).expect_err("too many");
        let said = "a file in memory: 65537 remarks, 65536 are the most";
        assert_eq!((error.kind(), &*error.to_string()), (ErrorKind::Limit, said));
        assert!(error.help().is_some_and(|help| help.contains("keep fewer")), "{error:?}");
        let few = archive.remarks(|name| name.ends_with("999")).expect("few are wanted");
        assert_eq!(few.len(), 65, "of all of them");
    }

    // Nor is what nobody could read again written.
    let texts: BTreeMap<String, &str> = (0..=1 << 16).map(|i| (i.to_string(), "")).collect();
    let path = super::scratch("many-texts");
    let error = TensorSet::new().save_with_remarks(&path, &texts).expect_err("too many");
    assert!(error.to_string().contains("65537 remarks, 65536 are the most"), "{error}");
    assert!(!path.exists(), "nothing is left");
}
