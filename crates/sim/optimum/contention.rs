//! Cost of contention: the time that passes between exchanges while senders count back-offs and collide.
//!
//! Model: G. Bianchi, "Performance analysis of the IEEE 802.11 distributed coordination function", IEEE JSAC 18(3), 2000, equations 7 and
//! 9, for *n* senders that always have a packet and hear each other, with the retry limits of H. Wu and others, "Performance of reliable
//! transport protocol over IEEE 802.11 wireless LAN: analysis and enhancement", INFOCOM 2002: after its last attempt a packet is given up,
//! and the window is the smallest again; collisions of RTS and losses of data after CTS have a limit each. An attempt that does not collide
//! is preceded by a mean number of idle slots and of collisions; each attempt and each collision is followed by a DIFS. One sender has half
//! of its smallest window and no collision. Losses let windows grow as collisions do.

use crate::air::MacKind;

/// Constants of a sender's access to the medium.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Access {
    /// Smallest contention window, slots: back-off is drawn from 0..=cw_min.
    pub cw_min: u32,
    /// Largest contention window, slots.
    pub cw_max: u32,
    /// Length of a slot, s.
    pub slot_s: f64,
    /// Idle time before slots are counted, s.
    pub difs_s: f64,
}

/// Means for each attempt that does not collide, when all senders have the same windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contention {
    /// Idle slots.
    pub idle_slots: f64,
    /// Collisions.
    pub collisions: f64,
}

/// Failures after which the MAC gives a packet up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tries {
    /// Of the first frame of an exchange: RTS, or data without RTS.
    pub first: u32,
    /// Of the data frame after RTS and CTS; none without them.
    pub data: Option<u32>,
}

/// Halvings of the interval in which the attempt probability lies: enough for every bit of an `f64`.
const HALVINGS: u32 = 60;

/// Failures of each kind that are counted: what follows weighs nothing, or all attempts fail.
const MOST_TRIES: usize = 64;

/// Least probability, of a slot, of an attempt that does not collide.
const LEAST_SUCCESS: f64 = 1e-6;

impl Access {
    /// Access of stations with one category.
    pub(super) fn of(mac: &MacKind) -> Self {
        let category = mac.category(0);
        Self {
            cw_min: category.cw_min,
            cw_max: category.cw_max,
            slot_s: mac.timing.slot as f64 * 1e-9,
            difs_s: mac.timing.difs as f64 * 1e-9,
        }
    }

    /// Contention of `n` senders, at least one, whose attempts also fail by losses with probability `loss`; none if no attempt succeeds,
    /// since the windows are too small for so many senders.
    #[must_use]
    pub fn contention(&self, n: usize, loss: f64, tries: Tries) -> Option<Contention> {
        let n = n.max(1);
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let tau = (low + high) / 2.0;
            let collides = 1.0 - power(1.0 - tau, n - 1);
            if self.attempts(collides, loss, tries) > tau {
                low = tau;
            } else {
                high = tau;
            }
        }
        let tau = (low + high) / 2.0;
        let idle = power(1.0 - tau, n);
        let success = n as f64 * tau * power(1.0 - tau, n - 1);
        (success > LEAST_SUCCESS)
            .then(|| Contention { idle_slots: idle / success, collisions: (1.0 - idle - success) / success })
    }

    /// Probability of an attempt in a slot, when attempts collide, and are lost otherwise, with these probabilities: attempts of a packet
    /// over the slots that it waits for, each attempt's own slot included.
    fn attempts(&self, collides: f64, lost: f64, tries: Tries) -> f64 {
        let lost = (1.0 - collides) * lost;
        let (first, data) = if tries.data.is_some() { (collides, lost) } else { (collides + lost, 0.0) };
        let most = |tries: u32| tries.clamp(1, MOST_TRIES as u32) as usize;
        let (firsts, rows) = (most(tries.first), tries.data.map_or(1, most));
        let window = |failures: usize| {
            let doubled = (f64::from(self.cw_min) + 1.0) * f64::from(1_u32 << failures.min(30));
            doubled.min(f64::from(self.cw_max) + 1.0)
        };
        let (mut attempts, mut slots) = (0.0, 0.0);
        // Probabilities that a packet comes to have so many failures of its first frame, with those of data by row.
        let mut reached = [0.0; MOST_TRIES];
        reached[0] = 1.0;
        for row in 0..rows {
            for column in 0..firsts {
                let here = reached[column];
                attempts += here;
                slots += here * (window(row + column) + 1.0) / 2.0;
                if column + 1 < firsts {
                    reached[column + 1] += here * first;
                }
                reached[column] = here * data;
            }
        }
        attempts / slots
    }

    /// Time of contention for each attempt that does not collide, s. `collision_s`: how long a collision occupies the medium.
    #[must_use]
    pub fn cost_s(&self, contention: Contention, collision_s: f64) -> f64 {
        let Contention { idle_slots, collisions } = contention;
        self.difs_s + idle_slots * self.slot_s + collisions * (collision_s + self.difs_s)
    }
}

/// A power with a small exponent, by multiplication: the same bits everywhere.
fn power(base: f64, exponent: usize) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * base)
}
