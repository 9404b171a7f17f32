//! Products in GF(2^8) and ranks of matrices, by definition: what the scheme's arithmetic is compared with.

use std::sync::LazyLock;

use airfair_schemes::more::gf256::POLYNOMIAL;

/// The product of two polynomials, then the remainder of a division.
pub fn by_division(a: u8, b: u8) -> u8 {
    let mut product: u16 =
        (0..8).filter(|bit| b >> bit & 1 == 1).fold(0, |sum, bit| sum ^ u16::from(a) << bit);
    for degree in (8..16).rev() {
        if product >> degree & 1 == 1 {
            product ^= POLYNOMIAL << (degree - 8);
        }
    }
    product as u8
}

/// All products, by their factors.
static PRODUCTS: LazyLock<Vec<[u8; 256]>> =
    LazyLock::new(|| (0..=255).map(|a| std::array::from_fn(|b| by_division(a, b as u8))).collect());

/// The rank of a matrix, by elimination without division: each row below a pivot's times the pivot, less the pivot's row times its own
/// coefficient.
pub fn rank(mut rows: Vec<Vec<u8>>) -> usize {
    let multiply = |a: u8, b: u8| PRODUCTS[usize::from(a)][usize::from(b)];
    let mut done = 0;
    for column in 0..rows.first().map_or(0, Vec::len) {
        let Some(pivot) = (done..rows.len()).find(|&row| rows[row][column] != 0) else { continue };
        rows.swap(done, pivot);
        let pivot = rows[done].clone();
        for row in rows.iter_mut().skip(done + 1).filter(|row| row[column] != 0) {
            let c = row[column];
            row.iter_mut().zip(&pivot).for_each(|(a, &b)| *a = multiply(*a, pivot[column]) ^ multiply(b, c));
        }
        done += 1;
    }
    done
}

#[test]
fn ranks_by_hand() {
    assert_eq!(rank(Vec::new()), 0);
    assert_eq!(rank(vec![vec![0, 0], vec![0, 0]]), 0);
    // Twice the first row is the second: 2 times 128 is 256 less the polynomial, 29.
    assert_eq!(rank(vec![vec![1, 128], vec![2, 29]]), 1);
    assert_eq!(rank(vec![vec![1, 128], vec![2, 28]]), 2);
    // The third is the sum of the others.
    assert_eq!(rank(vec![vec![0, 3, 5], vec![7, 0, 1], vec![7, 3, 4]]), 2);
}
