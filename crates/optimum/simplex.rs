//! Small linear programs: the simplex method on a dense dictionary, with the pivots of R. Bland, "New finite pivoting rules for the
//! simplex method", Mathematics of Operations Research 2(2), 1977, which cannot cycle and leave no choice.

use alloc::vec;
use alloc::vec::Vec;

/// Numbers nearer to 0 count as 0; data are about 1.
const EPSILON: f64 = 1e-11;

/// The shortfall that a point may have and still count as feasible.
const MISSING: f64 = 1e-9;

/// Most pivots of a phase: a program here needs some tens. Rounding could defeat the rule that prevents cycles.
const MOST_PIVOTS: usize = 10_000;

/// An optimal vertex.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Vertex {
    pub(crate) value: f64,
    pub(crate) x: Vec<f64>,
    /// Prices of the constraints.
    pub(crate) prices: Vec<f64>,
}

/// Each variable that is not 0 by choice ("basic") as a constant and a linear function of the others.
struct Dictionary {
    /// Numbers of variables: those of the program, then one for what is free in each constraint, then the artificial one.
    basic: Vec<usize>,
    other: Vec<usize>,
    /// A row for each basic variable: its constant, then its coefficients; at last the row of the objective.
    rows: Vec<Vec<f64>>,
}

/// Maximises `objective` · x with `matrix` x ≤ `bounds`, x ≥ 0. None if no x satisfies this, or if there is no maximum.
pub(crate) fn maximise(matrix: &[Vec<f64>], bounds: &[f64], objective: &[f64]) -> Option<Vertex> {
    let (m, n) = (matrix.len(), objective.len());
    let artificial = n + m;
    let mut rows: Vec<Vec<f64>> = matrix
        .iter()
        .zip(bounds)
        .map(|(row, &bound)| {
            let coefficients = row.iter().map(|a| -a);
            core::iter::once(bound).chain(coefficients).chain([1.0]).collect()
        })
        .collect();
    let mut first = vec![0.0; n + 2];
    first[n + 1] = -1.0;
    rows.push(first);
    let mut dictionary =
        Dictionary { basic: (n..n + m).collect(), other: (0..n).chain([artificial]).collect(), rows };
    // First phase: as little of the artificial variable as possible.
    let lowest = (0..m).min_by(|&a, &b| bounds[a].total_cmp(&bounds[b]));
    if let Some(row) = lowest.filter(|&row| bounds[row] < 0.0) {
        dictionary.pivot(row, n);
        dictionary.run(None)?;
        if dictionary.rows[m][0] < -MISSING {
            return None;
        }
        if let Some(row) = dictionary.basic.iter().position(|&variable| variable == artificial) {
            let coefficients = &dictionary.rows[row][1..];
            let column = (0..=n).max_by(|&a, &b| coefficients[a].abs().total_cmp(&coefficients[b].abs()))?;
            dictionary.pivot(row, column);
        }
        // Rounding must not leave a vertex outside.
        for row in &mut dictionary.rows[..m] {
            row[0] = row[0].max(0.0);
        }
    }
    let mut last = vec![0.0; n + 2];
    for (column, &variable) in dictionary.other.iter().enumerate() {
        if variable < n {
            last[column + 1] += objective[variable];
        }
    }
    for (row, &variable) in dictionary.rows.iter().zip(&dictionary.basic) {
        if variable < n {
            last.iter_mut().zip(row).for_each(|(sum, a)| *sum += objective[variable] * a);
        }
    }
    dictionary.rows[m] = last;
    dictionary.run(Some(artificial))?;
    let (mut x, mut prices) = (vec![0.0; n], vec![0.0; m]);
    for (row, &variable) in dictionary.rows.iter().zip(&dictionary.basic) {
        if variable < n {
            x[variable] = row[0];
        }
    }
    let objective = &dictionary.rows[m];
    for (column, &variable) in dictionary.other.iter().enumerate() {
        if (n..artificial).contains(&variable) {
            prices[variable - n] = -objective[column + 1];
        }
    }
    Some(Vertex { value: objective[0], x, prices })
}

impl Dictionary {
    /// Exchanges a basic variable with another.
    fn pivot(&mut self, row: usize, column: usize) {
        let mut pivot = core::mem::take(&mut self.rows[row]);
        let divisor = -pivot[column + 1];
        pivot[column + 1] = -1.0;
        pivot.iter_mut().for_each(|a| *a /= divisor);
        for other in self.rows.iter_mut().filter(|other| !other.is_empty()) {
            let factor = core::mem::take(&mut other[column + 1]);
            if factor != 0.0 {
                other.iter_mut().zip(&pivot).for_each(|(a, p)| *a += factor * p);
            }
        }
        self.rows[row] = pivot;
        core::mem::swap(&mut self.basic[row], &mut self.other[column]);
    }

    /// Pivots until no variable improves the objective; `barred` does not enter. None if the objective has no maximum, or
    /// none is found.
    fn run(&mut self, barred: Option<usize>) -> Option<()> {
        let m = self.basic.len();
        for _ in 0..MOST_PIVOTS {
            let improves =
                |column: &usize| self.rows[m][column + 1] > EPSILON && Some(self.other[*column]) != barred;
            let enters = (0..self.other.len()).filter(improves).min_by_key(|&column| self.other[column]);
            let Some(column) = enters else { return Some(()) };
            let mut leaves: Option<(f64, usize)> = None;
            for (row, &variable) in self.basic.iter().enumerate() {
                let falls = -self.rows[row][column + 1];
                if falls > EPSILON {
                    let ratio = self.rows[row][0] / falls;
                    let better = |(least, other): (f64, usize)| {
                        ratio < least || ratio == least && variable < self.basic[other]
                    };
                    if leaves.is_none_or(better) {
                        leaves = Some((ratio, row));
                    }
                }
            }
            self.pivot(leaves?.1, column);
        }
        None
    }
}
