//! Layouts against an oracle: a shape and a plain list of every element's place.

use wharf::shape::RANK_MAX;
use wharf::{Layout, Shape};

use super::support::Random;

mod oracle;

use oracle::Model;

/// A view in both ways, and how it was made.
struct Case {
    layout: Layout,
    model: Model,
    /// Made by slicing, permuting, flipping and broadcasting only.
    plain: bool,
    story: String,
}

impl Case {
    fn check(&self) {
        let Self { layout, model, story, .. } = self;
        assert_eq!(layout.shape().dims(), model.dims, "shape of {story}");
        assert_eq!(layout.places().collect::<Vec<_>>(), model.places, "places of {story}");
        let span = layout.span();
        assert_eq!(span.len(), model.span(), "length of the span of {story}");
        if let Some(&lowest) = model.places.iter().min() {
            assert_eq!(span.start, lowest, "start of the span of {story}");
            assert_eq!(layout.offset(), model.places[0], "offset of {story}");
        }
        assert_eq!(layout.is_dense(), model.is_dense(), "density of {story}");
        let (said, truth) = (layout.overlaps(), model.overlaps());
        assert!(said || !truth, "overlap missed in {story}");
        assert!(said == truth || !self.plain, "overlap invented in {story}");
        assert!(layout.check_within(span.end).is_ok(), "inside its own span: {story}");
        if !model.places.is_empty() {
            assert!(layout.check_within(span.end - 1).is_err(), "outside less: {story}");
        }
        self.check_collapsed();
    }

    fn check_collapsed(&self) {
        let Self { layout, model, story, .. } = self;
        let collapsed = layout.collapse();
        assert_eq!(collapsed.places().collect::<Vec<_>>(), model.places, "collapsed {story}");
        if model.places.is_empty() {
            return;
        }
        let (dims, strides) = (collapsed.shape().dims(), collapsed.strides());
        assert!(!dims.contains(&1), "no axis of length 1 is left of {story}");
        for axis in 1..dims.len() {
            let step = strides[axis] * dims[axis].cast_signed();
            assert_ne!(strides[axis - 1], step, "axes {axis} and before should merge in {story}");
        }
    }
}

/// A random shape of few elements; 0 and 1 are as likely as others.
fn dims(random: &mut Random, rank_max: usize) -> Vec<usize> {
    let rank = random.below(rank_max + 1);
    let mut left = 96;
    let mut dim = || {
        let dim = random.pick(&[1, 1, 2, 2, 3, 4, 5, 7, if left == 96 { 0 } else { 1 }]).min(left);
        left /= dim.max(1);
        dim.min(left.max(1))
    };
    (0..rank).map(|_| dim()).collect()
}

fn start(random: &mut Random) -> Case {
    let dims = dims(random, RANK_MAX);
    let shape = Shape::new(&dims).unwrap();
    let (layout, plain) = match random.below(3) {
        0 => (Layout::dense(shape), true),
        1 => (Layout::column_major(shape), true),
        _ => {
            let strides: Vec<isize> =
                dims.iter().map(|_| random.pick(&[-9, -2, -1, 0, 1, 2, 3, 12])).collect();
            let low =
                dims.iter().zip(&strides).map(|(&d, &s)| (d.max(1) - 1) * s.min(0).unsigned_abs());
            let offset = low.sum::<usize>() + random.below(5);
            (Layout::strided(shape, &strides, offset).unwrap(), false)
        }
    };
    let model = Model::strided(&dims, layout.strides(), layout.offset());
    Case { story: format!("{layout}"), layout, model, plain }
}

/// One more step of a chain; steps that an axis does not allow leave it as it is.
fn step(case: &Case, random: &mut Random) -> Case {
    let rank = case.model.dims.len();
    if rank == 0 {
        return unsqueeze(case, 0);
    }
    let axis = random.below(rank);
    match random.below(9) {
        0 | 1 => slice(case, axis, random),
        2 => permute(case, random),
        3 => flip(case, axis),
        4 => broadcast(case, random),
        5 if case.model.dims[axis] == 1 => squeeze(case, axis),
        6 if rank < RANK_MAX => unsqueeze(case, random.below(rank + 1)),
        7 => windows(case, axis, random),
        8 => reshape(case, random),
        _ => transpose(case),
    }
}

fn next(case: &Case, layout: Layout, model: Model, what: &str) -> Case {
    Case { layout, model, plain: case.plain, story: format!("{} . {what}", case.story) }
}

fn slice(case: &Case, axis: usize, random: &mut Random) -> Case {
    let dim = case.model.dims[axis];
    let start = random.below(dim + 1);
    let end = start + random.below(dim - start + 1);
    let by = random.pick(&[1, 1, 2, 3, -1, -2, -3, isize::MAX, isize::MIN]);
    let layout = case.layout.slice_step(axis, start..end, by).unwrap();
    let mut kept: Vec<usize> = (start..end).collect();
    if by < 0 {
        kept.reverse();
    }
    let kept: Vec<usize> = kept.into_iter().step_by(by.unsigned_abs()).collect();
    let mut dims = case.model.dims.clone();
    dims[axis] = kept.len();
    let model = case.model.view(dims, |index| {
        let mut index = index.to_vec();
        index[axis] = kept[index[axis]];
        index
    });
    next(case, layout, model, &format!("slice({axis}, {start}..{end}, {by})"))
}

fn permute(case: &Case, random: &mut Random) -> Case {
    let mut axes: Vec<usize> = (0..case.model.dims.len()).collect();
    for i in (1..axes.len()).rev() {
        axes.swap(i, random.below(i + 1));
    }
    let layout = case.layout.permute(&axes).unwrap();
    let dims = axes.iter().map(|&a| case.model.dims[a]).collect();
    let model = case.model.view(dims, |index| {
        let mut old = vec![0; index.len()];
        axes.iter().zip(index).for_each(|(&axis, &i)| old[axis] = i);
        old
    });
    next(case, layout, model, &format!("permute({axes:?})"))
}

fn transpose(case: &Case) -> Case {
    let rank = case.model.dims.len();
    if rank < 2 {
        assert!(case.layout.t().is_err(), "nothing to transpose in {}", case.story);
        return next(case, case.layout, case.model.clone(), "()");
    }
    let swapped = |index: &[usize]| {
        let mut index = index.to_vec();
        index.swap(rank - 2, rank - 1);
        index
    };
    let model = case.model.view(swapped(&case.model.dims), swapped);
    next(case, case.layout.t().unwrap(), model, "transpose()")
}

fn flip(case: &Case, axis: usize) -> Case {
    let dim = case.model.dims[axis];
    let model = case.model.view(case.model.dims.clone(), |index| {
        let mut index = index.to_vec();
        index[axis] = dim - 1 - index[axis];
        index
    });
    next(case, case.layout.flip(axis).unwrap(), model, &format!("flip({axis})"))
}

fn broadcast(case: &Case, random: &mut Random) -> Case {
    let old = case.model.dims.clone();
    let added = random.below((RANK_MAX - old.len()).min(2) + 1);
    let mut dims: Vec<usize> = (0..added).map(|_| random.pick(&[1, 2, 3])).collect();
    let few = case.model.places.len() < 64;
    dims.extend(old.iter().map(|&d| if d == 1 && few { random.pick(&[1, 2, 3, 0]) } else { d }));
    let layout = case.layout.broadcast_to(&dims[..]).unwrap();
    let model = case.model.view(dims.clone(), |index| {
        index[added..].iter().zip(&old).map(|(&i, &dim)| if dim == 1 { 0 } else { i }).collect()
    });
    next(case, layout, model, &format!("broadcast_to({dims:?})"))
}

fn squeeze(case: &Case, axis: usize) -> Case {
    let mut model = case.model.clone();
    model.dims.remove(axis);
    next(case, case.layout.squeeze(axis).unwrap(), model, &format!("squeeze({axis})"))
}

fn unsqueeze(case: &Case, axis: usize) -> Case {
    let mut model = case.model.clone();
    model.dims.insert(axis, 1);
    next(case, case.layout.unsqueeze(axis).unwrap(), model, &format!("unsqueeze({axis})"))
}

fn windows(case: &Case, axis: usize, random: &mut Random) -> Case {
    let dim = case.model.dims[axis];
    let (size, by) = (1 + random.below(3), random.pick(&[1, 2, 3, usize::MAX]));
    let made = case.layout.windows(axis, size, by);
    if size > dim || case.model.dims.len() == RANK_MAX {
        assert!(made.is_err(), "no windows of {size} on axis {axis} of {}", case.story);
        return next(case, case.layout, case.model.clone(), "()");
    }
    let mut dims = case.model.dims.clone();
    dims[axis] = (0..=dim - size).step_by(by).count();
    dims.push(size);
    let model = case.model.view(dims, |index| {
        let (inside, index) = index.split_last().unwrap();
        let mut index = index.to_vec();
        index[axis] = index[axis] * by.min(dim) + inside;
        index
    });
    let case = next(case, made.unwrap(), model, &format!("windows({axis}, {size}, {by})"));
    Case { plain: false, ..case }
}

/// Another shape of as many elements: the dimensions shuffled, some merged.
fn other_shape(dims: &[usize], random: &mut Random) -> Vec<usize> {
    let mut factors: Vec<usize> = dims.to_vec();
    for i in (1..factors.len()).rev().filter(|_| random.below(3) == 0).collect::<Vec<_>>() {
        factors.swap(i - 1, i);
    }
    let mut merged: Vec<usize> = Vec::new();
    for factor in factors {
        match merged.last_mut() {
            Some(last) if random.below(2) == 0 => *last *= factor,
            _ => merged.push(factor),
        }
    }
    if let Some(i) = merged.iter().position(|d| d % 2 == 0 && *d > 2)
        && merged.len() < RANK_MAX
    {
        merged[i] /= 2;
        merged.insert(i + random.below(2), 2);
    }
    merged
}

fn reshape(case: &Case, random: &mut Random) -> Case {
    let dims = other_shape(&case.model.dims, random);
    let made = case.layout.reshape(&dims);
    let fits = case.model.fits(&dims);
    assert_eq!(made.is_ok(), fits, "reshape to {dims:?} of {} ({:?})", case.story, case.layout);
    assert!(fits || !case.layout.is_dense(), "a dense layout takes any shape: {}", case.story);
    let model = Model { dims: dims.clone(), places: case.model.places.clone() };
    match made {
        Ok(layout) => next(case, layout, model, &format!("reshape({dims:?})")),
        Err(_) => next(case, case.layout, case.model.clone(), "()"),
    }
}

#[test]
fn chains_of_views_lie_where_the_oracle_says() {
    let mut steps = 0;
    for seed in 0..4000 {
        let mut random = Random::new(0x1a70_u64 + seed * 7919);
        let mut case = start(&mut random);
        case.check();
        for _ in 0..6 {
            if case.model.places.len() > 600 {
                break;
            }
            case = step(&case, &mut random);
            case.check();
            steps += 1;
        }
    }
    assert!(steps > 20_000, "only {steps} steps");
}

#[test]
fn overlap_of_any_strides_is_never_missed() {
    let mut exact = 0;
    for seed in 0..3000 {
        let mut random = Random::new(0x0e71 + seed);
        let dims: Vec<usize> = (0..random.below(4)).map(|_| 1 + random.below(4)).collect();
        let strides: Vec<isize> =
            dims.iter().map(|_| random.below(25).cast_signed() - 12).collect();
        let layout = Layout::strided(Shape::new(&dims).unwrap(), &strides, 200).unwrap();
        let truth = Model::strided(&dims, &strides, 200).overlaps();
        assert!(layout.overlaps() || !truth, "missed in {layout}");
        exact += usize::from(layout.overlaps() == truth);
    }
    assert!(exact > 2400, "right in {exact} of 3000: it errs only for strange strides");
}

#[test]
fn layouts_print_what_they_are() {
    let shape = Shape::new([2, 3]).unwrap();
    let dense = Layout::dense(shape);
    assert_eq!(dense.to_string(), "[2, 3] row-major");
    assert_eq!(Layout::column_major(shape).to_string(), "[2, 3] column-major");
    assert_eq!(dense.t().unwrap().to_string(), "[3, 2] column-major");
    assert_eq!(dense.flip(0).unwrap().to_string(), "[2, 3] strides [-3, 1] offset 3");
    assert_eq!(format!("{:?}", Layout::dense(Shape::SCALAR)), "[] row-major");
    assert_eq!(
        Layout::strided(Shape::SCALAR, &[], 7).unwrap().to_string(),
        "[] strides [] offset 7"
    );
}

/// Each form of a range, and each way to count its ends, against the places that a list has there.
#[test]
fn ranges_of_every_form_count_from_either_end() {
    for length in 0..5i64 {
        let layout = Layout::dense(Shape::new([length.unsigned_abs() as usize]).unwrap());
        let all: Vec<usize> = layout.places().collect();
        let ends = -length - 2..length + 3;
        let from_start = |end: i64| if end < 0 { end + length } else { end };
        let check = |got: wharf::Result<Layout>, start: i64, end: i64, story: String| {
            let inside = 0 <= start && start <= end && end <= length;
            let want = inside.then(|| all[start as usize..end as usize].to_vec());
            assert_eq!(got.ok().map(|l| l.places().collect::<Vec<_>>()), want, "{story} {length}");
        };
        check(layout.slice(0, ..), 0, length, "..".into());
        for a in ends.clone() {
            let start = from_start(a);
            check(layout.slice(-1, a..), start, length, format!("{a}.."));
            check(layout.slice(0, ..a), 0, start, format!("..{a}"));
            // What is outside stays there with one more.
            let next = if (0..length).contains(&start) { start + 1 } else { -1 };
            check(layout.slice(0, ..=a), 0, next, format!("..={a}"));
            let one = layout.at(a).ok().map(|l| l.places().collect::<Vec<_>>());
            let want = usize::try_from(start).ok().and_then(|n| all.get(n)).map(|&n| vec![n]);
            assert_eq!(one, want, "{a} of {length}");
            for b in ends.clone() {
                let end = from_start(b);
                check(layout.slice(0, a..b), start, end, format!("{a}..{b}"));
                let next = if (0..length).contains(&end) { end + 1 } else { -1 };
                check(layout.slice(0, a..=b), start, next, format!("{a}..={b}"));
            }
        }
    }
}

#[test]
fn axes_below_zero_are_those_from_the_end() {
    let dims = [2, 1, 4, 3];
    let layout = Layout::dense(Shape::new(dims).unwrap());
    for axis in 0..dims.len() {
        let back = axis as isize - 4;
        assert_eq!(layout.flip(back).unwrap(), layout.flip(axis).unwrap(), "flip {back}");
        let new = layout.unsqueeze(back - 1).unwrap();
        assert_eq!(new, layout.unsqueeze(axis).unwrap(), "a new axis {}", back - 1);
    }
    assert_eq!(layout.unsqueeze(-1).unwrap(), layout.unsqueeze(4).unwrap(), "a new last axis");
    assert_eq!(layout.squeeze(-3).unwrap(), layout.squeeze(1).unwrap(), "squeeze");
    assert_eq!(layout.windows(-2, 2, 1).unwrap(), layout.windows(2, 2, 1).unwrap(), "windows");
    let order = layout.permute([3, -2, 0, -3]).unwrap();
    assert_eq!(order, layout.permute([3usize, 2, 0, 1]).unwrap(), "permute");
}

#[test]
fn parts_of_several_axes_are_those_of_one_after_the_other() {
    let layout = Layout::dense(Shape::new([3, 4, 5]).unwrap());
    let part = layout.at((1.., -1, ..=2)).unwrap();
    let want = layout.slice(2, 0..3).unwrap().slice(1, 3..4).unwrap();
    assert_eq!(part, want.slice(0, 1..3).unwrap().squeeze(1).unwrap(), "a range, a place");
    assert_eq!(layout.at((.., 2)).unwrap(), layout.select(-2, 2).unwrap(), "a column");
    assert_eq!(layout.at((2, 1, 0)).unwrap().places().collect::<Vec<_>>(), [45], "one element");
    assert_eq!(layout.at(..).unwrap(), layout, "all of it");
}

#[test]
fn one_length_is_what_the_others_leave() {
    let layout = Layout::dense(Shape::new([4, 6]).unwrap());
    for (got, want) in [
        (layout.reshape(-1), vec![24]),
        (layout.reshape([-1, 3]), vec![8, 3]),
        (layout.reshape([2, -1, 4]), vec![2, 3, 4]),
        (layout.reshape(vec![24, -1]), vec![24, 1]),
        (layout.reshape(&[4usize, 6][..]), vec![4, 6]),
        (layout.at((..0, ..)).and_then(|l| l.reshape([3, -1])), vec![3, 0]),
    ] {
        assert_eq!(got.unwrap().shape().dims(), want, "inferred");
    }
}
