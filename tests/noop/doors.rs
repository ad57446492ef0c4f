//! The doors between host and device: one list, and everything that can stop a crossing.
//!
//! `tests/tidy` compares the list with the library, so that a new door has a row. What values
//! become on the way is tested elsewhere: here it is who is asked, who is named, what is counted,
//! and that whatever fails gives all its memory back.

use core::panic::Location;

use pollster::block_on;
use wharf::caps::{Caps, fixtures};
use wharf::custom::{Contract, Formula, Kernel, Run};
use wharf::ledger::{Crossings, Direction, Total};
use wharf::shadow::Capsule;
use wharf::tensor::Blocks;
use wharf::testing::{Call, Inside, noop};
use wharf::tune::{Problem, ProductSize};
use wharf::{DType, Device, Error, ErrorKind, HostView, HostViewMut, Policy, Result, Shipment};
use wharf::{Tensor, TensorSet};

/// What goes up ...
const DATA: [f32; 80] = [0.5; 80];
/// ... and what comes down.
const SHAPE: [usize; 2] = [1, 40];

/// Where data goes through a door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// From the host to `here`.
    Up,
    /// From `here` to the host.
    Down,
    /// From `here` to `there`.
    Over,
}
use Way::{Down, Over, Up};

/// A public call through which data crosses.
struct Door {
    /// As the ledger has it.
    name: &'static str,
    way: Way,
    /// Of each crossing, in order, and that is the smallest first.
    bytes: &'static [u64],
    call: fn(&Stage) -> Result<()>,
    /// Where its row begins.
    line: u32,
}

#[track_caller]
const fn door(
    name: &'static str,
    way: Way,
    bytes: &'static [u64],
    call: fn(&Stage) -> Result<()>,
) -> Door {
    Door { name, way, bytes, call, line: Location::caller().line() }
}

/// Every door that carries what it is told, in the order of their lines.
fn doors() -> Vec<Door> {
    [uploads(), carriers(), saves()].into_iter().flatten().collect()
}

/// Doors to devices.
fn uploads() -> Vec<Door> {
    vec![
        door("upload", Up, &[320], |s| s.here.upload(&DATA, 80).map(drop)),
        door("upload_as", Up, &[640], |s| s.here.upload_as(&DATA, 80, DType::F64).map(drop)),
        door("upload_view", Up, &[320], |s| s.here.upload_view(view()?).map(drop)),
        door("upload_view_as", Up, &[640], |s| {
            s.here.upload_view_as(view()?, DType::F64).map(drop)
        }),
        door("tensor", Up, &[320], |s| s.here.tensor([[0.5f32; 40]; 2]).map(drop)),
        door("tensor_as", Up, &[640], |s| {
            s.here.tensor_as([[0.5f32; 40]; 2], DType::F64).map(drop)
        }),
        door("upload_set", Up, &[8, 320], |s| s.here.upload_set(&shipment()?).map(drop)),
        door("upload_set_with", Up, &[8, 320], |s| {
            s.here.upload_set_with(&shipment()?, |_| ()).map(drop)
        }),
    ]
}

/// Doors back to the host, and to other devices.
fn carriers() -> Vec<Door> {
    vec![
        door("read", Down, &[160], |s| block_on(s.tensor.read::<f32>()).map(drop)),
        door("read_into", Down, &[160], |s| block_on(s.tensor.read_into(&mut [0f32; 40]))),
        door("read_now", Down, &[160], |s| s.tensor.read_now::<f32>().map(drop)),
        door("read_into_now", Down, &[160], |s| s.tensor.read_into_now(&mut [0f32; 40])),
        door("read_scalar", Down, &[4], |s| {
            block_on(s.tensor.slice(1, 7..8)?.read_scalar::<f32>()).map(drop)
        }),
        door("read_scalar_now", Down, &[4], |s| {
            s.tensor.slice(1, 7..8)?.read_scalar_now::<f32>().map(drop)
        }),
        door("read_as", Down, &[160], |s| block_on(s.tensor.read_as::<f64>()).map(drop)),
        door("read_as_now", Down, &[160], |s| s.tensor.read_as_now::<f64>().map(drop)),
        door("read_bytes", Down, &[160], |s| block_on(s.tensor.read_bytes()).map(drop)),
        door("read_bytes_now", Down, &[160], |s| s.tensor.read_bytes_now().map(drop)),
        door("read_view", Down, &[160], |s| {
            let mut data = [0f32; 40];
            block_on(s.tensor.read_view(&mut HostViewMut::column_major(&mut data, SHAPE)?))
        }),
        door("read_view_now", Down, &[160], |s| {
            let mut data = [0f32; 40];
            s.tensor.read_view_now(&mut HostViewMut::column_major(&mut data, SHAPE)?)
        }),
        door("read_array", Down, &[160], |s| block_on(s.tensor.read_array::<f32>()).map(drop)),
        door("read_array_now", Down, &[160], |s| s.tensor.read_array_now::<f32>().map(drop)),
        door("picture", Down, &[160], |s| block_on(s.tensor.picture()).map(drop)),
        door("picture_now", Down, &[160], |s| s.tensor.picture_now().map(drop)),
        door("equal", Down, &[1], |s| block_on(s.tensor.equal(&s.tensor)).map(drop)),
        door("equal_now", Down, &[1], |s| s.tensor.equal_now(&s.tensor).map(drop)),
        door("allclose", Down, &[1], |s| {
            block_on(s.tensor.allclose(&s.tensor, 1e-5, 1e-8)).map(drop)
        }),
        door("allclose_now", Down, &[1], |s| {
            s.tensor.allclose_now(&s.tensor, 1e-5, 1e-8).map(drop)
        }),
        door("nonzero", Down, &[4], |s| block_on(s.tensor.nonzero()).map(drop)),
        door("nonzero_now", Down, &[4], |s| s.tensor.nonzero_now().map(drop)),
        door("masked_select", Down, &[4], |s| {
            block_on(s.tensor.masked_select(&s.tensor.gt(0.0)?)).map(drop)
        }),
        door("masked_select_now", Down, &[4], |s| {
            s.tensor.masked_select_now(&s.tensor.gt(0.0)?).map(drop)
        }),
        door("unique", Down, &[4], |s| block_on(s.tensor.unique()).map(drop)),
        door("unique_now", Down, &[4], |s| s.tensor.unique_now().map(drop)),
        door("quantize", Down, &[36], |s| block_on(s.tensor.quantize(Blocks::Q8)).map(drop)),
        door("quantize_now", Down, &[36], |s| s.tensor.quantize_now(Blocks::Q8).map(drop)),
        door("to", Over, &[160], |s| block_on(s.tensor.to(&s.there)).map(drop)),
        door("to_now", Over, &[160], |s| s.tensor.to_now(&s.there).map(drop)),
        door("set.to", Over, &[8, 160], |s| block_on(s.set.to(&s.there)).map(drop)),
        door("set.to_with", Over, &[8, 160], |s| {
            block_on(s.set.to_with(&s.there, |_| ())).map(drop)
        }),
        door("set.to_now", Over, &[8, 160], |s| s.set.to_now(&s.there).map(drop)),
        door("set.to_with_now", Over, &[8, 160], |s| s.set.to_with_now(&s.there, |_| ()).map(drop)),
    ]
}

/// Doors into files.
fn saves() -> Vec<Door> {
    vec![
        door("save_npy", Down, &[160], |s| s.tensor.save_npy(crate::scratch("door")).map(drop)),
        door("set.save_npz", Down, &[8, 160], |s| {
            s.set.save_npz(crate::scratch("bundle")).map(drop)
        }),
        door("set.save", Down, &[8, 160], |s| s.set.save(crate::scratch("doors")).map(drop)),
        door("set.save_with_remarks", Down, &[8, 160], |s| {
            let none = std::collections::BTreeMap::<String, String>::new();
            s.set.save_with_remarks(crate::scratch("remarks"), &none).map(drop)
        }),
    ]
}

/// Doors that carry what they choose, both ways.
fn tuners() -> Vec<Door> {
    const PRODUCT: ProductSize = ProductSize::new(8, 8, 8, DType::F32);
    const PROBLEMS: [Problem; 1] = [Problem::Product(PRODUCT)];
    fn same<'a>(run: Run<'a>, n: usize, dtype: DType) -> Run<'a> {
        run.create("y", [n], dtype).threads([n, 1, 1])
    }
    vec![
        door("formula.check", Up, &[], |s| {
            let same = Formula::new("same(x)", "x")?;
            block_on(same.check(&s.here, &Contract::ulp(0.0), |x| x[0])).map(drop)
        }),
        door("formula.check_integers", Up, &[], |s| {
            let same = Formula::new("same(x)", "x")?;
            block_on(same.check_integers(&s.here, |x| x[0])).map(drop)
        }),
        door("formula.check_now", Up, &[], |s| {
            let same = Formula::new("same(x)", "x")?;
            same.check_now(&s.here, &Contract::ulp(0.0), |x| x[0]).map(drop)
        }),
        door("formula.check_integers_now", Up, &[], |s| {
            let same = Formula::new("same(x)", "x")?;
            same.check_integers_now(&s.here, |x| x[0]).map(drop)
        }),
        door("kernel.check", Up, &[], |s| {
            let (kernel, contract) = (copies("f32")?, Contract::ulp(0.0));
            block_on(kernel.check(&s.here, &contract, |x| x[0].clone(), same)).map(drop)
        }),
        door("kernel.check_integers", Up, &[], |s| {
            let kernel = copies("u32")?;
            block_on(kernel.check_integers(&s.here, .., |x| x[0].clone(), same)).map(drop)
        }),
        door("kernel.check_now", Up, &[], |s| {
            let (kernel, contract) = (copies("f32")?, Contract::ulp(0.0));
            kernel.check_now(&s.here, &contract, |x| x[0].clone(), same).map(drop)
        }),
        door("kernel.check_integers_now", Up, &[], |s| {
            let kernel = copies("u32")?;
            kernel.check_integers_now(&s.here, .., |x| x[0].clone(), same).map(drop)
        }),
        door("tune", Up, &[], |s| block_on(s.here.tune(&PROBLEMS, |_| ())).map(drop)),
        door("replay", Up, &[], |s| {
            let capsule = include_bytes!("../goldens/capsules/a_lane_swapped.capsule");
            block_on(s.here.replay(&Capsule::from_bytes(capsule)?)).map(drop)
        }),
        door("replay_now", Up, &[], |s| {
            let capsule = include_bytes!("../goldens/capsules/a_lane_swapped.capsule");
            s.here.replay_now(&Capsule::from_bytes(capsule)?).map(drop)
        }),
        door("tune_now", Up, &[], |s| s.here.tune_now(&PROBLEMS, |_| ()).map(drop)),
    ]
}

/// A kernel whose result is what it reads.
fn copies(dtype: &str) -> Result<Kernel> {
    let text = format!(
        "@group(0) @binding(0) var<storage> x: array<{dtype}>;
         @group(0) @binding(1) var<storage, read_write> y: array<{dtype}>;

         @compute @workgroup_size(64)
         fn copies(@builtin(global_invocation_id) at: vec3<u32>) {{
             if at.x < arrayLength(&y) {{
                 y[at.x] = x[at.x];
             }}
         }}"
    );
    Kernel::from_wgsl("copies", &text)
}

fn view() -> Result<HostView<'static, f32>> {
    HostView::column_major(&DATA, [8, 10])
}

fn shipment() -> Result<Shipment<'static>> {
    let mut shipment = Shipment::new();
    shipment.add("first", HostView::new(&DATA[..2], 2)?)?;
    shipment.add("second", view()?)?;
    Ok(shipment)
}

/// Two devices, and what lives on the first. Nothing has crossed yet.
struct Stage {
    here: Device,
    there: Device,
    tensor: Tensor,
    /// Of two tensors, the second is `tensor`.
    set: TensorSet,
}

fn open(caps: Caps) -> Result<Device> {
    let adapter = block_on(noop(caps))?;
    block_on(adapter.open(adapter.negotiate(&Policy::exact())))
}

impl Stage {
    fn with(make: impl FnOnce(&Device) -> Result<Tensor>) -> Result<Self> {
        let (here, there) = (open(fixtures::lavapipe())?, open(Caps::webgpu_baseline())?);
        let tensor = make(&here)?;
        let mut set = TensorSet::new();
        set.insert("first", here.ones(2, DType::F32)?)?;
        set.insert("second", tensor.clone())?;
        Ok(Self { here, there, tensor, set })
    }

    fn new() -> Self {
        Self::with(|device| device.ones(SHAPE, DType::F32)).expect("it is set up")
    }

    /// With a tensor that can never be computed: it is a part of one beyond any memory.
    fn poisoned() -> Self {
        let stage = Self::with(|device| {
            let huge = device.ones((), DType::F32)?.broadcast_to([1 << 30, 1 << 30])?;
            (huge + 1.0f32)?.slice(0, 0..1)?.slice(1, 0..SHAPE[1])
        });
        let stage = stage.expect("nothing is computed yet");
        stage.tensor.compute().expect_err("it is too large");
        stage
    }

    /// The devices that a door asks.
    fn asked(&self, way: Way) -> Vec<(Direction, &Device)> {
        let (down, up) = (Direction::Down, Direction::Up);
        match way {
            Up => vec![(up, &self.here)],
            Down => vec![(down, &self.here)],
            Over => vec![(down, &self.here), (up, &self.there)],
        }
    }

    /// What tensors hold on both devices.
    fn live(&self) -> [(u64, u64); 2] {
        [&self.here, &self.there].map(|device| {
            let memory = device.memory();
            (memory.bytes_live, memory.tensors)
        })
    }

    /// What both devices have of their drivers once what nobody uses is given back.
    fn reserved(&self) -> [(u64, u64); 2] {
        [&self.here, &self.there].map(|device| {
            device.trim().expect("the device lives");
            let memory = device.memory();
            (memory.bytes_reserved, memory.buffers)
        })
    }
}

impl Door {
    /// Whether a line is in its row.
    fn has(&self, file: &str, line: u32) -> bool {
        let row = doors().into_iter().chain(tuners()).rfind(|door| door.line <= line);
        file == file!() && row.is_some_and(|door| door.line == self.line)
    }

    /// The bytes of what crossed, which is in the ledgers of every device that was asked, under
    /// this name and line, and nothing else is.
    fn crossed(&self, stage: &Stage) -> Vec<Vec<u64>> {
        let name = self.name;
        let crossed = |(direction, device): (Direction, &Device)| {
            let ledger = device.ledger();
            let mut all = ledger.largest.clone();
            all.reverse();
            for c in &all {
                assert_eq!((c.call, c.direction), (name, direction), "{ledger}");
                let at = c.line;
                assert!(self.has(at.file(), at.line()), "{name}, not its row: {at}");
            }
            let bytes: Vec<u64> = all.iter().map(|c| c.bytes).collect();
            let mut total = Total::default();
            (total.count, total.bytes) = (bytes.len() as u64, bytes.iter().sum());
            let mut totals = [Total::default(); 2];
            totals[usize::from(direction == Direction::Down)] = total;
            assert_eq!([ledger.up, ledger.down], totals, "{name}: {ledger}");
            bytes
        };
        stage.asked(self.way).into_iter().map(crossed).collect()
    }

    /// Whether only these crossings happened, on every device that was asked.
    fn expect_crossed(&self, stage: &Stage, bytes: &[u64]) {
        for crossed in self.crossed(stage) {
            assert_eq!(crossed, bytes, "{}", self.name);
        }
    }

    /// Makes a call that may fail, and gives back all its memory in any case.
    fn call(&self, stage: &Stage) -> Result<(), Error> {
        let live = stage.live();
        let outcome = (self.call)(stage);
        assert_eq!(stage.live(), live, "{} leaks, of here and there: {outcome:?}", self.name);
        outcome
    }

    /// Makes a call that a guard denies, which names this door and its line.
    fn is_denied(&self, stage: &Stage, direction: Direction, device: &Device) {
        let _guard = device.guard(Crossings::Deny);
        let error = self.call(stage).expect_err(self.name);
        assert_eq!(error.kind(), ErrorKind::Denied, "{}: {error:?}", self.name);
        let begin = format!("crossing {direction} denied: {} at {}:", self.name, file!());
        let text = error.to_string();
        let line = text.strip_prefix(&begin).and_then(|at| at.split(':').next()?.parse().ok());
        assert!(line.is_some_and(|line| self.has(file!(), line)), "{}: {text}", self.name);
    }
}

#[test]
fn what_is_allowed_crosses_and_is_counted_under_the_callers_line() {
    for door in doors() {
        for rule in [Crossings::Allow, Crossings::Log] {
            let stage = Stage::new();
            let _guards = [stage.here.guard(rule), stage.there.guard(rule)];
            let reserved = stage.reserved();
            door.call(&stage).unwrap_or_else(|error| panic!("{}: {error:?}", door.name));
            door.expect_crossed(&stage, door.bytes);
            assert_eq!(stage.reserved(), reserved, "{} keeps memory", door.name);
        }
    }
}

#[test]
fn what_is_denied_names_the_callers_line_and_nothing_crosses() {
    for door in doors() {
        let stage = Stage::new();
        let reserved = stage.reserved();
        for (direction, device) in stage.asked(door.way) {
            door.is_denied(&stage, direction, device);
        }
        door.expect_crossed(&stage, &[]);
        assert_eq!(stage.reserved(), reserved, "{} keeps memory", door.name);
        door.call(&stage).unwrap_or_else(|error| panic!("{}: {error:?}", door.name));
        door.expect_crossed(&stage, door.bytes);
    }
}

#[test]
fn tuning_and_checks_cross_under_the_callers_line() {
    for door in tuners() {
        let stage = Stage::new();
        door.is_denied(&stage, Direction::Up, &stage.here);
        // Each candidate crosses; none is right where nothing computes: of a check no error.
        let said = door.call(&stage).map_err(|error| error.kind());
        let want = if door.name.starts_with("tune") { Err(ErrorKind::Wrong) } else { Ok(()) };
        assert_eq!(said, want, "{}", door.name);
        let ledger = stage.here.ledger();
        let once = if door.name.starts_with("replay") { 1 } else { 2 };
        assert!(ledger.up.count.min(ledger.down.count) >= once, "{}: {ledger}", door.name);
        for c in &ledger.largest {
            let at = c.line;
            assert!(c.call == door.name && door.has(at.file(), at.line()), "{ledger}");
        }
    }
}

/// The first tensor of a set is whole, and crosses before the second fails.
#[test]
fn what_can_never_be_computed_says_so_and_does_not_cross() {
    for door in doors().into_iter().filter(|door| door.way != Up) {
        let stage = Stage::poisoned();
        let kept = stage.tensor.compute().expect_err("it is too large").to_string();
        let reserved = stage.reserved();
        let error = door.call(&stage).expect_err(door.name);
        assert_eq!(error.kind(), ErrorKind::Limit, "{}: {error:?}", door.name);
        assert!(error.to_string().ends_with(&kept), "{}: {error}, not {kept}", door.name);
        door.expect_crossed(&stage, &door.bytes[..door.bytes.len() - 1]);
        assert_eq!(stage.reserved(), reserved, "{} keeps memory", door.name);
    }
}

/// Every stage on which one of the devices that a door asks is about to fail in the way of number
/// `n`, until a call does not notice.
fn failing(door: &Door, prepare: impl Fn(&Device, u64), check: impl Fn(&Stage, u64, &Error)) {
    for side in 0..Stage::new().asked(door.way).len() {
        let mut n = 0;
        loop {
            let stage = Stage::new();
            let (_, device) = stage.asked(door.way)[side];
            prepare(device, n);
            let Err(error) = door.call(&stage) else {
                break door.expect_crossed(&stage, door.bytes);
            };
            for crossed in door.crossed(&stage) {
                assert!(door.bytes.starts_with(&crossed), "{} at {n}: {crossed:?}", door.name);
            }
            device.fail(Call::Allocation, 0..0);
            check(&stage, n, &error);
            n += 1;
        }
        assert!(n > 0, "{} notices nothing", door.name);
    }
}

#[test]
fn without_memory_nothing_is_kept_and_the_next_call_crosses() {
    let reserved = Stage::new().reserved();
    for door in doors() {
        let prepare = |device: &Device, n| device.fail(Call::Allocation, n..u64::MAX);
        failing(&door, prepare, |stage, n, error| {
            assert!(error.is_out_of_memory(), "{} at {n}: {error:?}", door.name);
            assert_eq!(stage.reserved(), reserved, "{} at {n} keeps memory", door.name);
            door.call(stage).unwrap_or_else(|error| panic!("{} at {n}: {error:?}", door.name));
        });
    }
}

/// At once, or right after one of the submissions that it makes.
#[test]
fn a_lost_device_is_named_and_nothing_is_kept() {
    for door in doors() {
        let lose = |device: &Device, n| match n {
            0 => device.wgpu_device().destroy(),
            n => device.lose_after(n),
        };
        failing(&door, lose, |stage, n, error| {
            assert!(error.is_device_lost(), "{} at {n}: {error:?}", door.name);
            let again = door.call(stage).expect_err(door.name);
            assert!(again.is_device_lost(), "{} at {n}: {again:?}", door.name);
        });
    }
}
