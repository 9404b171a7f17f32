//! Sums from which terms are taken again.

/// A sum whose rounding errors are summed, too (A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen",
/// ZAMM 54, 1974): when nearly all terms have been subtracted again, what remains is still accurate.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sum {
    high: f64,
    low: f64,
}

impl From<f64> for Sum {
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

impl Sum {
    pub(crate) fn add(&mut self, term: f64) {
        let sum = self.high + term;
        let of_term = sum - self.high;
        // The error of `sum`, exactly.
        self.low += (self.high - (sum - of_term)) + (term - of_term);
        self.high = sum;
    }

    pub(crate) fn value(self) -> f64 {
        self.high + self.low
    }
}
