//! Statistics over replications: means, medians and shares with 95 % confidence intervals, fairness.
//!
//! Computed here and not in Python, so that the same runs give the same bytes on every machine. Sums run in the order
//! given, which is the order of the seeds.

use airfair_units::math;

/// A mean with the half-width of its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half-width of the interval; `None` for fewer than two values.
    pub ci95: Option<f64>,
}

/// Mean and 95 % interval (Student's t) of independent values; `None` for no value.
#[must_use]
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    let n = values.len();
    if n == 0 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let ci95 = (n > 1).then(|| {
        let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1) as f64;
        student_t_975(n as u32 - 1) * (variance / n as f64).sqrt()
    });
    Some(Estimate { mean, ci95 })
}

/// A value with its 95 % confidence interval, which need not be symmetric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// The value.
    pub value: f64,
    /// Lower and upper end of the interval; `None` for too few values.
    pub ends: Option<(f64, f64)>,
}

/// The share of `hits` in independent `trials` with Wilson's score interval (E. B. Wilson, "Probable inference, the law
/// of succession, and statistical inference", J. Am. Stat. Assoc. 22, 1927); `None` for no trial.
#[must_use]
pub fn share(hits: u32, trials: u32) -> Option<Bounds> {
    const Z: f64 = 1.959_963_984_540_054; // the 97.5 % quantile of the normal distribution
    if trials == 0 {
        return None;
    }
    let n = f64::from(trials);
    let value = f64::from(hits.min(trials)) / n;
    let middle = value + Z * Z / (2.0 * n);
    let half = Z * (value * (1.0 - value) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    let ends = (((middle - half) / scale).max(0.0), ((middle + half) / scale).min(1.0));
    Some(Bounds { value, ends: (trials > 1).then_some(ends) })
}

/// The median of independent values with the interval between the order statistics that cover it with at least 95 % for any distribution
/// (H. A. David, H. N. Nagaraja, "Order Statistics", 3rd ed., 2003, section 7.1): from six values on. `None` for no value.
#[must_use]
pub fn median(values: &[f64]) -> Option<Bounds> {
    let n = values.len();
    if n == 0 {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let value = 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]);
    // Fewer than k of n values below the median: the probability of fewer than k heads in n throws, I_1/2(n - k + 1, k).
    let covers = |k: usize| 2.0 * incomplete_beta(0.5, (n - k + 1) as f64, k as f64) <= 0.05;
    let ends = (1..=n / 2).take_while(|&k| covers(k)).last().map(|k| (sorted[k - 1], sorted[n - k]));
    Some(Bounds { value, ends })
}

/// Jain's fairness index, `(sum x)^2 / (n sum x^2)` (Jain, Chiu, Hawe, DEC-TR-301, 1984): 1 for equal shares, 1/n if one flow has all.
/// `None` for no value or all zeros: nothing was shared.
#[must_use]
pub fn jain_index(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

/// How near rates come to the best ones, each as a share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OptimumShares {
    /// The least share of a flow.
    pub least: f64,
    /// The sum of the rates, as a share of the sum of the best ones.
    pub total: f64,
}

/// Shares of the best rates that flows get: of each flow its rate and its best rate, which is positive. `None` for no flow.
#[must_use]
pub fn optimum_shares(flows: &[(f64, f64)]) -> Option<OptimumShares> {
    let least = flows.iter().map(|(rate, best)| rate / best).reduce(f64::min)?;
    let sum = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp); // sums do not depend on the order of the flows in a file
        values.iter().fold(0.0, |sum, value| sum + value)
    };
    let (rates, best) = flows.iter().copied().unzip();
    Some(OptimumShares { least, total: sum(rates) / sum(best) })
}

/// The 97.5 % quantile of Student's t with `df` degrees of freedom, by bisection on the distribution function.
#[must_use]
pub fn student_t_975(df: u32) -> f64 {
    let df = f64::from(df.max(1));
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if student_cdf(middle, df) < 0.975 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// Distribution function of Student's t for `t >= 0`, by the regularised incomplete beta function.
fn student_cdf(t: f64, df: f64) -> f64 {
    1.0 - 0.5 * incomplete_beta(df / (df + t * t), df / 2.0, 0.5)
}

/// Regularised incomplete beta function by its continued fraction (Lentz; DLMF 8.17.22).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front = math::exp(
        math::ln_gamma(a + b) - math::ln_gamma(a) - math::ln_gamma(b)
            + a * math::ln(x)
            + b * math::ln(1.0 - x),
    ) / a;
    let guard = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
    let (mut c, mut d) = (1.0, 1.0 / guard(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for m in 1..300 {
        let m = f64::from(m);
        for numerator in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = 1.0 / guard(1.0 + numerator * d);
            c = guard(1.0 + numerator / c);
            fraction *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed in any table of Student's t.
    #[test]
    fn quantiles_equal_the_printed_table() {
        for (df, t) in
            [(1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (19, 2.093), (29, 2.045), (120, 1.980)]
        {
            assert!((student_t_975(df) - t).abs() < 6e-4, "df {df}: {}", student_t_975(df));
        }
    }

    #[test]
    fn an_interval_by_hand() {
        // 1, 2, 3: mean 2, standard deviation 1, half-width 4.303 / sqrt(3).
        let e = estimate(&[1.0, 2.0, 3.0]).unwrap();
        assert!((e.mean - 2.0).abs() < 1e-12);
        assert!((e.ci95.unwrap() - 2.4842).abs() < 1e-3);
        assert_eq!(estimate(&[5.0]).unwrap().ci95, None);
        assert_eq!(estimate(&[]), None);
    }

    /// R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17, 1998, table I,
    /// method 3.
    #[test]
    fn shares_equal_the_published_intervals() {
        for (hits, trials, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let (a, b) = share(hits, trials).unwrap().ends.unwrap();
            assert!((a - low).abs() < 6e-5 && (b - high).abs() < 6e-5, "{hits} of {trials}: {a} to {b}");
        }
        assert_eq!(share(1, 1).unwrap(), Bounds { value: 1.0, ends: None });
        assert_eq!(share(0, 0), None);
    }

    /// J.-Y. Le Boudec, "Performance Evaluation of Computer and Communication Systems", table A.1: indices of the order statistics.
    #[test]
    fn medians_lie_between_the_tabled_order_statistics() {
        for (n, low, high) in [(6, 1, 6), (10, 2, 9), (20, 6, 15), (31, 10, 22), (100, 40, 61)] {
            let values: Vec<f64> = (1..=n).rev().map(f64::from).collect();
            let found = median(&values).unwrap();
            assert_eq!(found.ends, Some((f64::from(low), f64::from(high))), "{n} values");
            assert!((found.value - f64::from(n + 1) / 2.0).abs() < 1e-12);
        }
        assert_eq!(median(&[3.0, 1.0, 2.0]).unwrap(), Bounds { value: 2.0, ends: None });
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn optimum_shares_by_hand() {
        let found = optimum_shares(&[(300.0, 400.0), (10.0, 100.0), (440.0, 500.0)]).unwrap();
        assert!((found.least - 0.1).abs() < 1e-12);
        assert!((found.total - 0.75).abs() < 1e-12, "750 of 1000");
        assert_eq!(optimum_shares(&[(0.0, 5.0)]), Some(OptimumShares { least: 0.0, total: 0.0 }));
        assert_eq!(optimum_shares(&[]), None);
        let flows = [(0.1, 0.7), (0.2, 0.6), (0.3, 0.5)];
        let reversed: Vec<(f64, f64)> = flows.iter().rev().copied().collect();
        assert_eq!(optimum_shares(&flows), optimum_shares(&reversed));
    }

    #[test]
    fn jain_by_hand() {
        let index = |shares: &[f64]| jain_index(shares).unwrap();
        assert!((index(&[1.0, 1.0, 1.0]) - 1.0).abs() < 1e-12);
        assert!((index(&[1.0, 0.0, 0.0, 0.0]) - 0.25).abs() < 1e-12);
        assert!((index(&[714.0, 5.0, 715.0]) - 0.671).abs() < 1e-3, "the three pairs of ns-2");
        assert_eq!(jain_index(&[]), None);
        assert_eq!(jain_index(&[0.0, 0.0]), None);
    }
}
