// Elements of an axis at another length: where they lie in the source, and weights by distance.
// A kernel says what `Real` is.

// region alone
alias Real = f32;
// end alone

// The element before each place, and by what part of the way to the next it lies from there.
struct Places {
    before: vec4<i32>,
    part: vec4<Real>,
}

// Of the elements i, by the factor, the term and the parts of a job. Counted by one whole more than
// there is, which is never negative; a place has no fewer wholes than the least.
fn places_of(i: vec4<u32>, place: vec4<u32>, least: u32) -> Places {
    let counted = max(i * place.x + place.y + place.z, vec4<u32>(least * place.z));
    let more = counted / place.z;
    return Places(vec4<i32>(more) - 1, vec4<Real>(counted - more * place.z) / Real(place.z));
}

// Elements of the source up to the last one. Beyond an end lies the element at the end.
fn held_inside(place: vec4<i32>, last: u32) -> vec4<u32> {
    return vec4<u32>(clamp(place, vec4<i32>(0), vec4<i32>(i32(last))));
}

// What has no weight does not count, be it infinite.
fn part_of_sum(x: vec4<Real>, weight: vec4<Real>) -> vec4<Real> {
    return select(weight * x, vec4<Real>(), weight == vec4<Real>());
}

// Weights by the cubic of Keys with -0.75.
fn weigh_cubic(far: vec4<Real>) -> vec4<Real> {
    let near = (Real(1.25) * far - Real(2.25)) * far * far + Real(1);
    let beyond = ((Real(3.75) - Real(0.75) * far) * far - Real(6)) * far + Real(3);
    return select(beyond, near, far <= vec4<Real>(1));
}

// The same with -0.5.
fn weigh_softly(far: vec4<Real>) -> vec4<Real> {
    let near = (Real(1.5) * far - Real(2.5)) * far * far + Real(1);
    let beyond = ((Real(2.5) - Real(0.5) * far) * far - Real(4)) * far + Real(2);
    return select(beyond, near, far <= vec4<Real>(1));
}
