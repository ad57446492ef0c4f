//! Paper tier: every shader file and every kernel variant through naga, with exactly the capabilities it declares,
//! and translated for the platforms that no Linux machine can run.

use naga::back::{glsl, hlsl, msl};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use wharf::wgsl::{Assembled, Form, Needs, Slot, Target, Way, assemble, catalog, reflect};

const TARGETS: [Target; 2] = [Target::Cpu, Target::Gpu];
const WAYS: [Way; 7] =
    [Way::Dense, Way::One, Way::Row, Way::Splat, Way::Step, Way::Any, Way::Own(0)];

/// Every kernel of the catalog in every variant; fused kernels have tests of their own.
fn kernels() -> Vec<Assembled> {
    let mut all = Vec::new();
    for target in TARGETS {
        for entry in catalog::CATALOG {
            for forms in entry.variants {
                let inputs = forms.len() - entry.outputs;
                let slot = |(i, &form): (usize, &Form)| {
                    if i < inputs { Slot::read(form, Way::Dense) } else { Slot::write(form) }
                };
                let slots = forms.iter().enumerate().map(slot).collect::<Vec<_>>();
                all.push(assemble::kernel(entry, &slots, 8, target));
            }
        }
        for form in Form::MOVES {
            for way in WAYS.into_iter().filter(|way| !matches!(way, Way::Own(_))) {
                all.push(assemble::reindex(form, way, 3, target));
            }
        }
    }
    all
}

#[test]
fn every_file_is_valid_alone() {
    let kernels = catalog::CATALOG.iter().map(|entry| &entry.source);
    let mut paths = Vec::new();
    for source in catalog::fragments().chain(kernels) {
        paths.push(source.path.to_owned());
        let module = naga::front::wgsl::parse_str(source.text)
            .unwrap_or_else(|e| panic!("{}", e.emit_to_string_with_path(source.text, source.path)));
        let all = Capabilities::SHADER_FLOAT16 | Capabilities::FLOAT64 | Capabilities::SHADER_INT64;
        Validator::new(ValidationFlags::all(), all)
            .validate(&module)
            .unwrap_or_else(|e| panic!("{}", e.emit_to_string_with_path(source.text, source.path)));
    }
    for path in files(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders")) {
        assert!(paths.contains(&path), "shaders/{path} is not in the catalog");
    }
}

/// The paths of all files below `root`, relative to it.
fn files(root: &str) -> Vec<String> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(root).expect("the shaders are part of the repository") {
        let path = entry.expect("a readable directory").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            let below = files(&path.to_string_lossy());
            all.extend(below.into_iter().map(|file| format!("{name}/{file}")));
        } else {
            all.push(name);
        }
    }
    all
}

#[test]
fn every_variant_is_valid_with_what_it_declares_and_not_with_less() {
    for kernel in kernels() {
        check(&kernel);
    }
}

/// Valid as declared; invalid without any one of the capabilities it declares; translated without error.
fn check(kernel: &Assembled) {
    if let Err(rejected) = reflect::check(kernel) {
        panic!("{rejected}\n{}", kernel.wgsl);
    }
    let module = reflect::parse(kernel).expect("parsed a moment ago");
    for need in [Needs::F16, Needs::F64, Needs::INT64, Needs::SUBGROUPS] {
        if kernel.needs.contains(need) {
            let less = kernel.needs.without(need);
            assert!(
                reflect::validate(kernel, &module, less).is_err(),
                "{} declares {need} and does not need it\n{}",
                kernel.name,
                kernel.wgsl
            );
        }
    }
    translate(kernel, &module);
}

/// To Metal, DX12 and GL, as far as these know the types.
fn translate(kernel: &Assembled, module: &naga::Module) -> [Option<String>; 3] {
    let info = reflect::validate(kernel, module, kernel.needs).expect("valid a moment ago");
    let constants =
        kernel.constants.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let (module, info) =
        naga::back::pipeline_constants::process_overrides(module, &info, None, &constants)
            .expect("overrides have values");
    let knows = |not: &[Needs]| not.iter().all(|need| !kernel.needs.contains(*need));
    let msl = knows(&[Needs::F64]).then(|| {
        let options = msl::Options {
            lang_version: (2, 4),
            fake_missing_bindings: true,
            ..Default::default()
        };
        msl::write_string(&module, &info, &options, &Default::default())
            .unwrap_or_else(|e| panic!("{} in MSL: {e}\n{}", kernel.name, kernel.wgsl))
            .0
    });
    let hlsl = Some({
        let options = hlsl::Options {
            shader_model: hlsl::ShaderModel::V6_2,
            fake_missing_bindings: true,
            ..Default::default()
        };
        let mut text = String::new();
        hlsl::Writer::new(&mut text, &options, &Default::default())
            .write(&module, &info, None)
            .unwrap_or_else(|e| panic!("{} in HLSL: {e}\n{}", kernel.name, kernel.wgsl));
        text
    });
    let glsl = knows(&[Needs::F16, Needs::INT64]).then(|| {
        let options = glsl::Options { version: glsl::Version::Desktop(430), ..Default::default() };
        let pipeline = glsl::PipelineOptions {
            shader_stage: naga::ShaderStage::Compute,
            entry_point: "main".into(),
            multiview: None,
        };
        let mut text = String::new();
        glsl::Writer::new(&mut text, &module, &info, &options, &pipeline, Default::default())
            .and_then(|mut writer| writer.write())
            .unwrap_or_else(|e| panic!("{} in GLSL: {e}\n{}", kernel.name, kernel.wgsl));
        text
    });
    [msl, hlsl, glsl]
}

#[test]
fn no_invocation_loops_past_what_llvmpipe_survives() {
    for entry in catalog::CATALOG {
        assert!(entry.trips_max < 65_000, "{} may loop {} times", entry.name, entry.trips_max);
    }
}
