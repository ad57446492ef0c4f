//! Files that cases need, wherever they run.

/// The weights that `scripts/fetch-model` fetches, in `target`: in a browser, beside the page.
const MODEL: &str = "models/all-MiniLM-L6-v2/model.safetensors";

/// The weights of the published model.
pub(crate) async fn model() -> Result<Vec<u8>, String> {
    let read = bytes(MODEL).await;
    read.map_err(|why| format!("{MODEL}: {why}; `scripts/fetch-model` fetches it"))
}

#[cfg(not(target_family = "wasm"))]
async fn bytes(name: &str) -> Result<Vec<u8>, String> {
    let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/target"));
    std::fs::read(folder.join(name)).map_err(|error| error.to_string())
}

#[cfg(target_family = "wasm")]
async fn bytes(name: &str) -> Result<Vec<u8>, String> {
    use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

    #[wasm_bindgen]
    extern "C" {
        /// A function of the page: the bytes of a file that lies beside it.
        #[wasm_bindgen(catch)]
        async fn bring(name: &str) -> Result<JsValue, JsValue>;
    }

    let brought = bring(name).await.map_err(|_| "it cannot be read from here")?;
    Ok(js_sys::Uint8Array::new(&brought).to_vec())
}
