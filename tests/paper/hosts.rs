//! Host views: data of every layout, gathered, and what cannot be viewed.

use wharf::{ErrorKind, HostView, Layout, Shape};

use super::support::{Random, says};

const DATA: [i32; 6] = [1, 2, 3, 4, 5, 6];

#[test]
fn every_kind_of_layout_gathers_in_row_major_order() {
    let rows: [(&str, HostView<'_, i32>, &[i32]); 9] = [
        ("row-major", HostView::new(&DATA, [2, 3]).unwrap(), &[1, 2, 3, 4, 5, 6]),
        ("column-major", HostView::column_major(&DATA, [2, 3]).unwrap(), &[1, 3, 5, 2, 4, 6]),
        ("backwards", HostView::strided(&DATA, [6], &[-1], 5).unwrap(), &[6, 5, 4, 3, 2, 1]),
        ("with gaps", HostView::strided(&DATA, [3], &[2], 1).unwrap(), &[2, 4, 6]),
        ("repeated", HostView::strided(&DATA, [2, 3], &[0, 2], 0).unwrap(), &[1, 3, 5, 1, 3, 5]),
        ("one value", HostView::strided(&DATA, [4], &[0], 3).unwrap(), &[4; 4]),
        ("a scalar", HostView::strided(&DATA, (), &[], 5).unwrap(), &[6]),
        ("nothing", HostView::strided(&DATA, [3, 0], &[9, 9], 99).unwrap(), &[]),
        ("windows", HostView::strided(&DATA, [3, 2], &[2, 1], 0).unwrap(), &[1, 2, 3, 4, 5, 6]),
    ];
    for (name, view, want) in rows {
        assert_eq!(view.iter().collect::<Vec<_>>(), want, "{name}");
        assert_eq!(view.shape(), view.layout().shape(), "{name}");
    }
}

#[test]
#[expect(clippy::needless_borrows_for_generic_args, reason = "borrowed shapes are what is tested")]
fn a_shape_can_be_written_in_many_ways() {
    let one = [7u8];
    let all = [
        HostView::new(&one, ()),
        HostView::new(&one, 1),
        HostView::new(&one, [1, 1]),
        HostView::new(&one, &[1]),
        HostView::new(&one, &[1usize, 1, 1][..]),
        HostView::new(&one, vec![1]),
        HostView::new(&one, &vec![1]),
        HostView::new(&one, Shape::SCALAR),
        HostView::new(&one, &Shape::SCALAR),
    ];
    for view in all {
        assert_eq!(view.unwrap().iter().collect::<Vec<_>>(), [7], "one element");
    }
}

#[test]
fn a_view_gathers_what_its_layout_says() {
    let data: Vec<u16> = (0..500).collect();
    for seed in 0..500 {
        let mut random = Random::new(0x05e7 + seed);
        let dims: Vec<usize> = (0..random.below(5)).map(|_| random.below(4)).collect();
        let strides: Vec<isize> = dims.iter().map(|_| random.below(13).cast_signed() - 6).collect();
        let layout = Layout::strided(Shape::new(&dims).unwrap(), &strides, 100).unwrap();
        let view = HostView::with_layout(&data, layout).unwrap();
        let want: Vec<u16> = layout.places().map(|p| u16::try_from(p).unwrap()).collect();
        assert_eq!(view.iter().collect::<Vec<_>>(), want, "{layout}");
    }
}

#[test]
fn what_is_outside_cannot_be_viewed() {
    let help = "an element at index i lies at offset + sum(i * stride); lower the shape, \
                the strides or the offset";
    let rows: [(&[usize], &[isize], usize, &str); 6] = [
        (&[7], &[1], 0, "layout reaches elements 0 to 6, data has 6"),
        (&[2, 3], &[3, 1], 1, "layout reaches elements 1 to 6, data has 6"),
        (&[3], &[-1], 8, "layout reaches elements 6 to 8, data has 6"),
        (&[], &[], 6, "layout reaches elements 6 to 6, data has 6"),
        (&[4], &[0], 9, "layout reaches elements 9 to 9, data has 6"),
        (&[3], &[-1], 1, "layout reaches element -1, before the first"),
    ];
    for (dims, strides, offset, text) in rows {
        says(HostView::strided(&DATA, dims, strides, offset), ErrorKind::Layout, text, help);
    }
}

#[test]
fn counts_must_agree() {
    let help = "give a shape whose product is the length of the data";
    let rows: [(wharf::Result<HostView<'_, i32>>, &str); 4] = [
        (HostView::new(&DATA, [7]), "data has 6 elements, shape [7] has 7"),
        (HostView::column_major(&DATA, [2, 2]), "data has 6 elements, shape [2, 2] has 4"),
        (HostView::new(&DATA, ()), "data has 6 elements, shape [] has 1"),
        (HostView::new(&DATA, [0, 6]), "data has 6 elements, shape [0, 6] has 0"),
    ];
    for (view, text) in rows {
        says(view, ErrorKind::Shape, text, help);
    }
    let strides = HostView::strided(&DATA, [2, 3], &[1], 0);
    let text = "1 stride for a shape of rank 2";
    says(strides, ErrorKind::Layout, text, "give one for each axis, 2 in all");
}
