// What drivers do differently. Only the host knows the numbers, so a compiler can fold nothing.
@group(0) @binding(0) var<storage, read> numbers: array<f32>;
@group(0) @binding(1) var<storage, read_write> seen: array<u32>;

const SINGLE = 8u; // answers before the lists
const LIST = 64u;

@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) group: vec3<u32>) {
    // In a group of its own: a driver that ends a long loop ends every loop after it too.
    if group.x == 1u {
        var trips = 0u;
        for (var i = 0u; i < u32(numbers[0]); i++) {
            trips += 1u;
        }
        seen[0] = trips;
        return;
    }
    seen[1] = bitcast<u32>(numbers[1] * numbers[2]);
    let a = numbers[3];
    seen[2] = bitcast<u32>(a * a + numbers[4]);
    let nan = numbers[5];
    seen[3] = bitcast<u32>(max(nan, numbers[2]));
    seen[4] = u32(nan != nan);
    let zero = i32(numbers[6]);
    seen[5] = u32(7 / zero);
    seen[6] = bitcast<u32>(sin(numbers[7]));
    seen[7] = 0u;
    for (var i = 0u; i < LIST; i++) {
        let x = numbers[SINGLE + i];
        seen[SINGLE + i] = bitcast<u32>(numbers[2] / x);
        seen[SINGLE + LIST + i] = bitcast<u32>(exp(x));
    }
}

// Eight lanes, each of which loads one number a trip: what a load in a loop takes.
@compute @workgroup_size(8)
fn loads(@builtin(local_invocation_index) lane: u32) {
    var sum = 0.0;
    let trips = u32(numbers[0]);
    for (var i = 0u; i < trips; i++) {
        sum += numbers[SINGLE + ((7u * i + lane) & (LIST - 1u))];
    }
    seen[lane] = bitcast<u32>(sum);
}
