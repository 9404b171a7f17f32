//! Systems of linear equations with a symmetric positive definite matrix.

use airfair_units::math;

/// Factors the lower triangle of a matrix of n rows in place (A = L Lᵀ); false if the matrix is not positive definite.
pub(crate) fn factor(matrix: &mut [f64], n: usize) -> bool {
    for i in 0..n {
        let (above, row) = matrix.split_at_mut(i * n);
        for j in 0..i {
            let other = &above[j * n..][..n];
            row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
        }
        let rest = row[i] - dot(&row[..i], &row[..i]);
        if rest.is_nan() || rest <= 0.0 {
            return false;
        }
        row[i] = math::sqrt(rest);
    }
    true
}

/// Solves A x = b for a factored matrix; `b` becomes x.
pub(crate) fn solve(factor: &[f64], n: usize, b: &mut [f64]) {
    for i in 0..n {
        b[i] = (b[i] - dot(&factor[i * n..][..i], &b[..i])) / factor[i * n + i];
    }
    for i in (0..n).rev() {
        b[i] /= factor[i * n + i];
        let x = b[i];
        for (b, l) in b[..i].iter_mut().zip(&factor[i * n..][..i]) {
            *b -= l * x;
        }
    }
}

/// Scalar product in four sums, whose order is fixed; the processor computes them side by side.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a, b) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}
