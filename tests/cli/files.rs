//! Files of blocks, and several that belong together: what each part of them becomes.

use serde_json::Value;

use super::{Scratch, wharf};

/// Name, dtype, how, as what and how many bytes, one line for each.
fn rows(text: &str) -> Vec<String> {
    let said: Value = serde_json::from_str(text).expect("it is JSON");
    let tensors = said["tensors"].as_array().expect("a list").iter();
    tensors
        .map(|one| {
            let words = ["name", "dtype", "how", "stored", "bytes"].map(|key| match &one[key] {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            });
            words.join(" ")
        })
        .collect()
}

/// Blocks go along rows: what lies column by column goes up as it is.
#[test]
fn columns_become_no_blocks() {
    let path = std::env::temp_dir().join(format!("wharf-columns-{}.npy", std::process::id()));
    let header = "{'descr': '<f4', 'fortran_order': True, 'shape': (32, 64), }";
    let begin = b"\x93NUMPY\x01\x00\x76\x00";
    let file = [&begin[..], format!("{header:<117}\n").as_bytes(), &[0; 32 * 64 * 4]].concat();
    std::fs::write(&path, file).expect("written");
    let (code, text) =
        wharf(&["check", &path.to_string_lossy(), "--on", "lavapipe", "--as", "q8", "--json"]);
    std::fs::remove_file(&path).expect("it was there");
    assert!(rows(&text)[0].ends_with(" <f4 native f32 8192"), "{text}");
    assert_eq!(code, 3, "{text}");
}

/// Blocks are two tensors, and none of them has the name of another in the file.
#[test]
fn blocks_take_no_name_that_is_another_tensors() {
    let path = std::env::temp_dir().join(format!("wharf-claimed-{}.st", std::process::id()));
    let header = r#"{"w":{"dtype":"F32","shape":[2,32],"data_offsets":[0,256]},
        "w.scales":{"dtype":"U8","shape":[2],"data_offsets":[256,258]}}"#;
    let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0; 258]].concat();
    std::fs::write(&path, file).expect("written");
    let check = |to| wharf(&["check", &path.to_string_lossy(), "--on", "lavapipe", "--as", to]);
    let [(code, text), (as_f16, _)] = ["q8", "f16"].map(check);
    std::fs::remove_file(&path).expect("it was there");
    assert!(text.contains("would be `w.scales`, which is another tensor's name"), "{text}");
    assert_eq!((code, as_f16), (2, 3), "{text}");
}

/// Those of 8 and of 4 bits are two tensors each, as they are on a device.
#[test]
fn a_file_of_blocks_is_weighed_part_by_part() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/goldens/files/blocks.gguf");
    for name in ["lavapipe", "browser"] {
        let (code, text) = wharf(&["check", path, "--on", name, "--json"]);
        let want = [
            "plain F32 native f32 1024",
            "half F16 native f16 512",
            "one I32 native i32 28",
            "blocks.values Q8_0 packed i8 256",
            "blocks.scales Q8_0 native f16 16",
            "brain BF16 packed bf16 512",
            "small.values Q4_0 packed u8 128",
            "small.scales Q4_0 native f16 16",
        ];
        assert_eq!(rows(&text), want, "{name}: {text}");
        assert!(text.contains("\"bytes\":2492,"), "{name}: {text}");
        assert_eq!(code, 3, "{name}: {text}");
    }
}

/// What they are made of is nothing to convert: other numbers would be no blocks.
#[test]
fn blocks_of_a_file_stay_as_they_are() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/goldens/files/blocks.gguf");
    let (code, text) = wharf(&["check", path, "--on", "lavapipe", "--as", "f32", "--json"]);
    let want = [
        "plain F32 native f32 1024",
        "half F16 converted f32 1024",
        "one I32 native i32 28",
        "blocks.values Q8_0 packed i8 256",
        "blocks.scales Q8_0 native f16 16",
        "brain BF16 converted f32 1024",
        "small.values Q4_0 packed u8 128",
        "small.scales Q4_0 native f16 16",
    ];
    assert_eq!(rows(&text), want, "{text}");
    assert_eq!(code, 3, "{text}");
}

/// A name may have what a terminal would obey, and a dtype may be newer than wharf.
#[test]
fn json_has_no_control_characters() {
    let name = "a\u{7f}\u{9b}2J";
    let header = format!(r#"{{"{name}":{{"dtype":"Z3","shape":[4],"data_offsets":[0,3]}}}}"#);
    let file = Scratch::new("controls", &header, 3);
    let (code, text) = file.check(&["--on", "lavapipe", "--json"]);
    assert!(!text.trim_end().contains(char::is_control), "{text:?}");
    let said: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(said["tensors"][0]["name"], name, "{text}");
    assert_eq!(said["tensors"][0]["error"], "wharf has no Z3", "{text}");
    assert_eq!(code, 2, "{text}");
}

#[test]
fn shards_are_weighed_together() {
    let one = r#"{"a":{"dtype":"F32","shape":[2,32],"data_offsets":[0,256]}}"#;
    let two = r#"{"b":{"dtype":"BF16","shape":[5],"data_offsets":[0,10]},
"ids":{"dtype":"I64","shape":[3],"data_offsets":[10,34]}}"#;
    let shards = [Scratch::new("shard-1", one, 256), Scratch::new("shard-2", two, 34)];
    let [first, second] = [0, 1].map(|i: usize| shards[i].path());
    let places = format!(r#"{{"ids":"{second}","a":"{first}","b":"{second}"}}"#);
    let index = format!(r#"{{"metadata":{{"total_size":290}},"weight_map":{places}}}"#);
    let whole = Scratch::new("index", "", 0);
    std::fs::write(&whole.0, index).expect("written");
    let want = ["a F32 native f32 256", "b BF16 packed bf16 10", "ids I64 native i64 24"];
    let (code, text) = whole.check(&["--on", "lavapipe", "--json"]);
    assert_eq!(rows(&text), want, "{text}");
    assert!(text.contains("\"bytes\":290,"), "{text}");
    assert_eq!(code, 3, "{text}");
    let want = ["a F32 converted q8 68", "b BF16 packed bf16 10", "ids I64 rejected null null"];
    let (code, text) = whole.check(&["--on", "browser", "--as", "q8", "--json"]);
    assert_eq!(rows(&text), want, "{text}");
    assert_eq!(code, 3, "i64 may be narrowed: {text}");
    std::fs::remove_file(&shards[1].0).expect("it was there");
    let (code, text) = whole.check(&["--on", "lavapipe"]);
    assert!(text.contains("shard \"check-shard-2.safetensors\""), "{text}");
    assert_eq!(code, 65, "a part of it is not there: {text}");
}
