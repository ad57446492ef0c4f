//! The oracle of layouts: a shape and a plain list of places, and views of it index by index.

/// The place of each element, in row-major order.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) dims: Vec<usize>,
    pub(super) places: Vec<usize>,
}

/// Every index vector of a shape, in row-major order.
fn indices(dims: &[usize]) -> Vec<Vec<usize>> {
    dims.iter().fold(vec![vec![]], |all, &dim| {
        let longer = |index: &Vec<usize>| {
            let index = index.clone();
            (0..dim).map(move |i| [index.clone(), vec![i]].concat())
        };
        all.iter().flat_map(longer).collect()
    })
}

impl Model {
    pub(super) fn strided(dims: &[usize], strides: &[isize], offset: usize) -> Self {
        let place = |index: Vec<usize>| {
            index
                .iter()
                .zip(strides)
                .fold(offset, |p, (&i, &s)| p.wrapping_add_signed(s * i.cast_signed()))
        };
        Self { dims: dims.to_vec(), places: indices(dims).into_iter().map(place).collect() }
    }

    fn get(&self, index: &[usize]) -> usize {
        let n = index.iter().zip(&self.dims).fold(0, |n, (i, dim)| n * dim + i);
        self.places[n]
    }

    /// A view of other dimensions; `old` maps each of its indices to one of this layout.
    pub(super) fn view(&self, dims: Vec<usize>, old: impl Fn(&[usize]) -> Vec<usize>) -> Self {
        let places = indices(&dims).iter().map(|index| self.get(&old(index))).collect();
        Self { dims, places }
    }

    pub(super) fn span(&self) -> usize {
        let ends = self.places.iter().min().zip(self.places.iter().max());
        ends.map_or(0, |(low, high)| high + 1 - low)
    }

    pub(super) fn overlaps(&self) -> bool {
        let mut places = self.places.clone();
        places.sort_unstable();
        places.windows(2).any(|pair| pair[0] == pair[1])
    }

    pub(super) fn is_dense(&self) -> bool {
        self.places.windows(2).all(|pair| pair[0] + 1 == pair[1])
    }

    /// Whether some strides give the same places under another shape. Only the strides of the unit
    /// vectors can.
    pub(super) fn fits(&self, dims: &[usize]) -> bool {
        let all = indices(dims);
        let stride = |axis: usize| {
            let unit = |index: &Vec<usize>| {
                index.iter().enumerate().all(|(a, &i)| i == usize::from(a == axis))
            };
            let n = all.iter().position(unit)?;
            Some(self.places[n].cast_signed() - self.places[0].cast_signed())
        };
        let strides: Vec<isize> = (0..dims.len()).map(|axis| stride(axis).unwrap_or(0)).collect();
        all.is_empty() || Self::strided(dims, &strides, self.places[0]).places == self.places
    }
}
