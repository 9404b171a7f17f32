//! The threshold follows the delay over the wireless link [LBM §2.3].

use airfair_units::Span;

use super::Lbm;

/// rho_0 and the state that moves it.
#[derive(Debug, Clone)]
pub struct Adaptation {
    rho0: f64,
    /// The target of the delay; `None`: rho_0 stays.
    target: Option<(Span, Span)>,
    step: f64,
    most: f64,
    windows: u64,
    /// Windows since the last decision, and the delays of the packets acknowledged in them.
    seen: u64,
    packets: u64,
    delay: Span,
}

impl Adaptation {
    /// An adaptation with a run's parameters.
    #[must_use]
    pub fn new(lbm: &Lbm) -> Self {
        Self {
            rho0: lbm.rho0,
            target: lbm.adapt.then_some((lbm.min_delay, lbm.max_delay)),
            step: lbm.step,
            most: lbm.max_rho0,
            windows: lbm.adapt_windows,
            seen: 0,
            packets: 0,
            delay: Span::ZERO,
        }
    }

    /// The present rho_0.
    #[must_use]
    pub fn rho0(&self) -> f64 {
        self.rho0
    }

    /// Ends a window in which `packets` packets were acknowledged, with the sum of their delays: after `adapt_windows` windows rho_0
    /// moves by a step, unless their mean delay lies in the target or no packet was acknowledged.
    pub fn update(&mut self, packets: u64, delay: Span) {
        self.seen += 1;
        self.packets += packets;
        self.delay = Span(self.delay.0.saturating_add(delay.0));
        if self.seen < self.windows {
            return;
        }
        let (packets, delay) = (self.packets, self.delay);
        (self.seen, self.packets, self.delay) = (0, 0, Span::ZERO);
        let Some((least, most)) = self.target.filter(|_| packets > 0) else { return };
        // The mean against a bound, without a division.
        let against = |bound: Span| u128::from(delay.0).cmp(&(u128::from(bound.0) * u128::from(packets)));
        if against(least).is_lt() {
            self.rho0 = (self.rho0 + self.step).min(self.most);
        } else if against(most).is_gt() {
            self.rho0 = (self.rho0 - self.step).max(0.0);
        }
    }
}
