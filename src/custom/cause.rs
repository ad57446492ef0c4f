//! What can be wrong with how a kernel of the user's own is run.

use crate::count::bytes;
use crate::dtype::DType;
use crate::error::causes;
use crate::wgsl::scan::Spot;

causes! {
    pub(super) enum RunCause;

    Unreadable { path: String, why: String }, File:
        ("{path}: {why}")
        help ("give the path of a WGSL file that this program may read");
    Missing { name: String, missing: String }, Shader:
        ("{name}: override {missing} has no value")
        help ("give it one: `kernel.with({missing:?}, 64)?`");
    Unknown { name: String, given: String, has: String }, Shader:
        ("{name}: there is no binding {given:?}, it has {has}")
        help ("a binding is given by the name of its `var<storage>`");
    Twice { name: String, binding: String }, Shader:
        ("{name}: binding {binding} is given twice")
        help ("a tensor is read, or created, or updated: leave out one of the two");
    Unbound { name: String, binding: String, calls: &'static str }, Shader:
        ("{name}: binding {binding} is not given")
        help ("give it by {calls}");
    Written { name: String, binding: String }, Shader:
        ("{name}: binding {binding} is read_write, and given to be read")
        help ("a tensor never changes by being read: `create` makes a new one, `update` takes on \
               what is written");
    ReadOnly { name: String, binding: String, given: &'static str }, Shader:
        ("{name}: binding {binding} is read, and given by `{given}`")
        help ("give it by `read`, or declare it `var<storage, read_write>`");
    Element { name: String, binding: String, takes: DType, given: DType, made: bool }, DType:
        ("{name}: binding {binding} holds {takes}, the tensor {given}")
        help ("{}", match made {
            true => format!("create it as `DType::{takes:?}`"),
            false => format!("cast it: `cast(DType::{takes:?})`"),
        });
    Kinds { name: String, first: DType, other: DType }, DType:
        ("{name}: arrays of V are given {first} and {other}")
        help ("in one run `V` is four of one kind of number; f32, f16 and bf16 are one, and so \
               are integers of 8, 16 and 32 bits of the same sign: cast the others");
    Many { name: String, binding: String, given: u64, max: u64 }, Limit:
        ("{name}: binding {binding} is given {given} elements, places in it go to {max}")
        help ("split the tensor");
    Short { name: String, binding: String, takes: u64, given: u64 }, Shape:
        ("{name}: binding {binding} is an array of {takes} numbers, the tensor has {given}")
        help ("give a tensor of {takes}, or declare it without a length, as `array<f32>`");
    Empty { name: String, binding: String }, Shape:
        ("{name}: binding {binding} is given a tensor without elements")
        help ("it may be empty where nothing runs, as by `threads([0, 1, 1])`");
    Results { name: String, created: usize, taken: usize }, Shader:
        ("{name}: tensors created: {created}, taken: {taken}")
        help ("one comes out for each `create`: `let [a, b] = run.record()?` takes two");
    Uniform { name: String, takes: u32, given: usize }, Shader:
        ("{name}: the uniform is {takes} bytes, {given} are given")
        help ("`set` takes all of it, gaps included, as WGSL lays it out; nothing where there is \
               none");
    Nowhere { name: String }, Shader:
        ("{name}: neither groups nor threads are given")
        help ("`threads([w, h, d])` is divided by the workgroup size, `groups([x, y, z])` is not");
    Groups { name: String, groups: [u64; 3], max: u64 }, Limit:
        ("{name}: {groups:?} workgroups, from 1 to {max} are possible on each axis")
        help ("{}", if groups.contains(&0) {
            "what is created has elements: an invocation at least has to run"
        } else {
            "spread them over two axes, or let an invocation do more: `while i < n { .. i += \
             total; }`"
        });
    Workgroup { name: String, what: &'static str, given: u64, max: u64, less: &'static str }, Limit:
        ("{name}: {given} {what}, the device takes {max}")
        help ("make {less} smaller");
    Large { name: String, binding: String, given: u64, max: u64 }, Limit:
        ("{name}: binding {binding} is given {}, one binding holds {}", bytes(*given), bytes(*max))
        help ("split the tensor");
    Lacks { name: String, feature: String, adapter: String }, Rejected:
        ("{name}: it needs {feature}, which {adapter} lacks")
        help ("write it without, for adapters such as this one, or choose another: \
               `Adapter::list()` shows them");
    WideDivision { name: String, spot: Spot, adapter: String }, Rejected:
        ("{name}:{}:{}: it divides single integers of 64 bits, which {adapter} cannot do by \
          Metal{}", spot.line, spot.column, spot.picture())
        help ("divide pairs and take the first: `(vec2<u64>(x) / vec2<u64>(y)).x`");
}
