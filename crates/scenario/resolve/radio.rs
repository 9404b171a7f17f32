//! From the keys of a radio to its specification: defaults by standard and profile, thresholds from ranges, and errors about keys
//! that contradict each other.

use airfair_sim::air::propagation::COVERAGE_STEP;
use airfair_sim::modes::Mode;
use airfair_sim::spec::{
    EdcaSpec, FadingSpec, MacSpec, PhySpec, Preamble, Propagation, Protection, QueueSpec, RadioSpec,
    Sensitivity, Standard,
};
use airfair_units::{Db, Dbm, Meters, Rate};

use crate::declare::field::{Field, Or, describe};
use crate::declare::name::name_problem;
use crate::declare::table::OtherKeys;
use crate::defaults::radio_profile::{Switches, switches};
use crate::defaults::standard::{self, Defaults, PREAMBLE_DETECT};
use crate::keys::inherit::{Precedence, inherit, precedence};
use crate::keys::propagation::{FadingTable, PropagationTable};
use crate::keys::radio::{RadioTable, THRESHOLDS};
use crate::resolve::blocks::{Names, single};
use crate::resolve::categories::categories;
use crate::resolve::propagation::{data_reach, threshold};
use crate::resolve::tcp::Tcp;
use crate::text::error::{Cx, cut};
use crate::text::location::{At, Path};
use crate::text::tree::{Entry, Table};

const NOISE_FIGURE: Db = Db(7.0);
/// How far below the noise a signal may be left out.
const CUTOFF_BELOW_NOISE_DB: f64 = 10.0;

/// The name of the `[radio]` table's kind.
pub(crate) const DEFAULT: &str = "default";

/// The kinds of radio: their complete tables and their specifications.
pub(crate) struct Radios {
    pub names: Names,
    /// In the order of `names`; empty where a table could not be read.
    pub kinds: Vec<Option<(RadioTable, RadioSpec)>>,
    /// True if the file has `[radio]`.
    pub has_default: bool,
}

/// Reads `[radio]` and every `[radios.NAME]`.
pub(crate) fn radios(root: &Table, tcp: &Tcp, cx: &mut Cx<'_>) -> Radios {
    let mut radios = Radios { names: Names::of("kind of radio"), kinds: Vec::new(), has_default: false };
    let base = single(root, "radio", cx);
    if let Some(base) = base {
        radios.has_default = true;
        add(&mut radios, DEFAULT, base, tcp, (&Path::ROOT.child("radio"), cx));
    }
    let parent = Path::ROOT.child("radios");
    let kinds = single(root, "radios", cx);
    if let Some(key) = kinds.and_then(key_of_a_radio) {
        radios.names.complete = false;
        cx.error(key.1, &parent, || {
            format!("`{}` is a key of [radio]; did you mean that? [radios.NAME] adds a kind of radio", key.0)
        });
        return radios;
    }
    for (name, entry) in kinds.map(|t| &t.entries).into_iter().flatten() {
        let path = parent.child(name);
        if let Some(problem) = name_problem(name) {
            cx.error(entry.key_at, &parent.child(&cut(name)), || problem.to_string());
            continue;
        }
        let Some(own) = entry.item.table() else {
            cx.error(entry.item.at, &path, || format!("{} stands here; expected a table", entry.item.kind()));
            continue;
        };
        if name == DEFAULT {
            cx.error(entry.key_at, &path, || "the radio named \"default\" is written as [radio]".to_string());
            continue;
        }
        let merged = base.map_or_else(|| own.clone(), |base| inherit(base, own));
        add(&mut radios, name, &merged, tcp, (&path, cx));
    }
    check_channels(&radios, cx);
    radios
}

/// The first key of `[radios]` that belongs into `[radio]`, and its location.
fn key_of_a_radio(kinds: &Table) -> Option<(&str, At)> {
    let of_a_radio = |(key, entry): &(&String, &Entry)| {
        entry.item.table().is_none() && RadioTable::KEYS.contains(&key.as_str())
    };
    let found = kinds.entries.iter().filter(of_a_radio).min_by_key(|(_, entry)| entry.key_at)?;
    Some((found.0, found.1.key_at))
}

/// Reads a kind of radio and adds it.
fn add(radios: &mut Radios, name: &str, table: &Table, tcp: &Tcp, (path, cx): (&Path<'_>, &mut Cx<'_>)) {
    radios.names.add(name, table.at, path, cx);
    let kind = RadioTable::read_table(table, path, cx, &OtherKeys::default()).and_then(|mut table| {
        let spec = resolve(&mut table, name, tcp, (path, cx));
        (!table.locations.refused("standard")).then_some((table, spec))
    });
    radios.kinds.push(kind);
}

/// Checks that all radios of a channel have the same standard, and warns if their propagation differs.
fn check_channels(radios: &Radios, cx: &mut Cx<'_>) {
    let kinds: Vec<&(RadioTable, RadioSpec)> = radios.kinds.iter().flatten().collect();
    for (i, (table, spec)) in kinds.iter().enumerate() {
        let Some((_, other)) = kinds.iter().take(i).find(|(_, s)| s.channel == spec.channel) else {
            continue;
        };
        if other.phy.standard != spec.phy.standard {
            let parent = Path::ROOT.child("radios");
            let path = parent.child(&spec.name);
            cx.error(table.locations.of_any(&["channel", "standard"]), &path.child("channel"), || {
                format!(
                    "{}: radio \"{}\" uses this channel with {}, this one with {}; expected another channel",
                    spec.channel,
                    other.name,
                    standard_name(other.phy.standard),
                    standard_name(spec.phy.standard)
                )
            });
        } else if other.propagation != spec.propagation || other.fading != spec.fading {
            let what = if other.propagation == spec.propagation { "fading" } else { "propagation" };
            cx.warnings.push(format!(
                "radios \"{}\" and \"{}\" share channel {} but not their {what}",
                other.name, spec.name, spec.channel
            ));
        }
    }
}

/// Fills in the table and makes the specification; errors are noted, and the rest is checked.
pub(crate) fn resolve(
    t: &mut RadioTable,
    name: &str,
    tcp: &Tcp,
    (path, cx): (&Path<'_>, &mut Cx<'_>),
) -> RadioSpec {
    let d = standard::defaults(t.standard);
    let s = switches(t.profile);
    let mut propagation =
        t.propagation.take().unwrap_or_else(|| PropagationTable::two_ray(t.locations.of("radio")));
    let model = propagation.resolve(d);
    noise(t, path, cx);
    let range = thresholds(t, &mut propagation, &model, s, (path, cx));
    t.propagation = Some(propagation);
    // Keys that depend on the standard are not checked against its default if the written one was refused.
    if !t.locations.refused("standard") {
        rates(t, d, path, cx);
        reject_keys_of_other_standards(t, path, cx);
    }
    windows(t, d, s, path, cx);
    let phy = phy(t, d, s);
    local_limit(t, s, tcp, (path, cx));
    let edca = categories(t, path, cx);
    let mac = mac(t, edca, d, s);
    let queue = QueueSpec { packets: t.queue_packets };
    let channel = *t.channel.get_or_insert(d.channel);
    let packet_loss = t.packet_loss;
    let fading = t.fading.as_ref().and_then(|fading| fading.0.as_ref()).map(FadingTable::resolve);
    if let Some(fading) = &fading {
        warn_of_fast_fading(name, fading, &phy, cx);
    }
    let radio = RadioSpec {
        name: name.to_string(),
        channel,
        phy,
        mac,
        propagation: model,
        fading,
        queue,
        packet_loss,
    };
    if let Some(range) = range {
        warn_of_range(&radio, range, cx);
    }
    radio
}

/// Warns of a range that data frames do not have: its key sets the power at which preambles are detected.
fn warn_of_range(radio: &RadioSpec, range: Meters, cx: &mut Cx<'_>) {
    let Some(reach) = data_reach(radio).filter(|reach| *reach < range.0 * LEAST_REACH) else { return };
    cx.warnings.push(format!(
        "radio \"{}\" detects preambles up to {range}, its `range`, and receives data frames at {} up to {reach:.0} m only: there is no \
         link beyond; expected a lower data_rate, more tx_power or range = \"{:.0} m\"",
        radio.name,
        radio.phy.data_rate,
        reach.floor()
    ));
}

/// Part of the written range that data frames reach at least without a warning.
const LEAST_REACH: f64 = 0.99;

/// Bytes of a data frame with an IP packet of 1500 B.
const LONG_FRAME: u32 = 1536;

/// Warns of a coherence time that is shorter than a data frame: a frame keeps the power of its start.
fn warn_of_fast_fading(name: &str, fading: &FadingSpec, phy: &PhySpec, cx: &mut Cx<'_>) {
    let Some(mode) = Mode::of_rate(phy.standard, phy.data_rate) else { return };
    let frame = mode.duration(LONG_FRAME, phy.standard, phy.preamble);
    if fading.coherence < frame {
        cx.warnings.push(format!(
            "radio \"{name}\" has fading of a coherence time of {}, shorter than a frame of 1500 B at {} ({} us): a frame keeps the power \
             of its start",
            fading.coherence.write(),
            phy.data_rate,
            frame.0.div_ceil(1000)
        ));
    }
}

fn noise(t: &mut RadioTable, path: &Path<'_>, cx: &mut Cx<'_>) {
    let figure = t.noise_figure.take();
    if let (Some(_), Some(figure)) = (t.noise, figure) {
        let at = t.locations.of("noise_figure");
        match precedence(t.locations.of("noise"), at) {
            Precedence::First => {}
            Precedence::Second => t.noise = Some(standard::noise(t.standard, figure.0)),
            Precedence::Conflict => cx.error(at, &path.child("noise_figure"), || {
                "`noise` gives the same quantity; write one of them".to_string()
            }),
        }
    }
    t.noise.get_or_insert(standard::noise(t.standard, figure.unwrap_or(NOISE_FIGURE).0));
}

/// The threshold that is written, or the one computed from a range; an error if both are written in the file, or both as overrides.
fn by_range(
    written: (Option<Dbm>, At, &str),
    range: (Option<Dbm>, At, &str),
    path: &Path<'_>,
    cx: &mut Cx<'_>,
) -> Option<Dbm> {
    let ((level, level_at, level_key), (reached, range_at, range_key)) = (written, range);
    if level.is_none() || reached.is_none() {
        return level.or(reached);
    }
    match precedence(level_at, range_at) {
        Precedence::First => level,
        Precedence::Second => reached,
        Precedence::Conflict => {
            cx.error(range_at, &path.child("propagation").child(range_key), || {
                format!("`{level_key}` gives the same threshold; write one of them")
            });
            level
        }
    }
}

/// Fills in the thresholds, and returns the range of the preamble if it is written.
fn thresholds(
    t: &mut RadioTable,
    propagation: &mut PropagationTable,
    model: &Propagation,
    s: &Switches,
    (path, cx): (&Path<'_>, &mut Cx<'_>),
) -> Option<Meters> {
    let ranges = propagation.take_ranges();
    if let (Some(range), Some(sense)) = (ranges.range, ranges.carrier_sense)
        && sense < range
    {
        cx.error(ranges.carrier_sense_at, &path.child("propagation").child("carrier_sense"), || {
            format!("{}: less than the range; expected at least {}", sense.write(), range.write())
        });
        return None;
    }
    let mut at_range = |distance: Option<Meters>, at: At, key: &str| {
        let distance = distance?;
        let level = threshold(model, t.tx_power, distance);
        if !THRESHOLDS.contains(&level) {
            cx.error(at, &path.child("propagation").child(key), || {
                format!(
                    "{}: {} arrives from there; expected a distance from which {} arrives",
                    distance.write(),
                    rounded(level),
                    describe(&THRESHOLDS)
                )
            });
        }
        Some(level)
    };
    let reached = at_range(ranges.range, ranges.range_at, "range");
    let sensed = at_range(ranges.carrier_sense, ranges.carrier_sense_at, "carrier_sense");
    let preamble = by_range(
        (t.preamble_detect, t.locations.of("preamble_detect"), "preamble_detect"),
        (reached, ranges.range_at, "range"),
        path,
        cx,
    );
    let energy = by_range(
        (t.energy_detect, t.locations.of("energy_detect"), "energy_detect"),
        (sensed, ranges.carrier_sense_at, "carrier_sense"),
        path,
        cx,
    );
    let usual = if preamble.is_some() { Sensitivity::PreambleDetect } else { Sensitivity::PerRate };
    t.sensitivity.get_or_insert(usual);
    // Where only the carrier-sense range is written, no preamble is detected at a power that leaves the medium idle.
    let preamble =
        preamble.unwrap_or(energy.map_or(PREAMBLE_DETECT, |level| Dbm(level.0.max(PREAMBLE_DETECT.0))));
    if let Some(level) = energy.filter(|level| *level > preamble) {
        let key = if ranges.carrier_sense.is_some() { "propagation" } else { "energy_detect" };
        let at = if ranges.carrier_sense.is_some() { ranges.carrier_sense_at } else { t.locations.of(key) };
        cx.error(at, &path.child(key), || {
            format!(
                "a preamble of {} is detected where {} is needed to find the medium busy; expected energy_detect at or \
                 below preamble_detect",
                rounded(preamble),
                rounded(level)
            )
        });
    }
    let energy = energy.unwrap_or(preamble);
    (t.preamble_detect, t.energy_detect) = (Some(preamble), Some(energy));
    match t.cutoff {
        Some(cutoff) if cutoff > energy => cx.error(t.locations.of("cutoff"), &path.child("cutoff"), || {
            format!("{}: above energy_detect; expected at most \"{}\"", cutoff.write(), rounded(energy))
        }),
        Some(_) => {}
        None if s.cutoff_at_energy_detect => t.cutoff = Some(energy),
        None => {
            let below_noise = t.noise.map_or(energy.0, |n| n.0 - CUTOFF_BELOW_NOISE_DB);
            t.cutoff = Some(Dbm(below_noise.min(energy.0)));
        }
    }
    ranges.range.filter(|_| reached == Some(preamble))
}

/// A power for a message, rounded down to a hundredth.
fn rounded(power: Dbm) -> Dbm {
    Dbm((power.0 * 100.0).floor() / 100.0)
}

fn rates(t: &mut RadioTable, d: &Defaults, path: &Path<'_>, cx: &mut Cx<'_>) {
    let check = |key: &str, rate: Rate, cx: &mut Cx<'_>| {
        if !d.modes.contains(&rate) {
            cx.error(t.locations.of(key), &path.child(key), || {
                let modes: Vec<String> = d.modes.iter().map(Rate::to_string).collect();
                format!(
                    "{}: {} has no such mode; expected one of {}",
                    rate.write(),
                    standard_name(t.standard),
                    modes.join(", ")
                )
            });
        }
    };
    t.data_rate.into_iter().for_each(|rate| check("data_rate", rate, cx));
    t.broadcast_rate.into_iter().for_each(|rate| check("broadcast_rate", rate, cx));
    t.basic_rates.iter().flatten().for_each(|&rate| check("basic_rates", rate, cx));
    let data_rate = t.data_rate.unwrap_or(d.data_rate);
    let basic = t.basic_rates.as_deref().unwrap_or(d.basic_rates);
    if d.modes.contains(&data_rate) && !basic.iter().any(|&rate| rate <= data_rate) {
        let key = if t.basic_rates.is_some() { "basic_rates" } else { "data_rate" };
        cx.error(t.locations.of(key), &path.child(key), || {
            format!("no basic rate is at or below the data rate, {data_rate}: nothing could carry an ACK")
        });
    }
}

fn reject_keys_of_other_standards(t: &RadioTable, path: &Path<'_>, cx: &mut Cx<'_>) {
    let refuse = |key: &str, what: String, cx: &mut Cx<'_>| {
        cx.error(t.locations.of(key), &path.child(key), || what);
    };
    if t.preamble == Preamble::Short && t.standard == Standard::Dot11a {
        refuse("preamble", "\"short\": 802.11a has no DSSS preamble; expected \"long\"".to_string(), cx);
    }
    if t.standard == Standard::Dot11g {
        return;
    }
    let this = standard_name(t.standard);
    if t.short_slot {
        refuse(
            "short_slot",
            format!("true: only 802.11g has a choice of slots, not {this}; expected false"),
            cx,
        );
    }
    if t.protection != Protection::None {
        let word = t.protection.write();
        refuse("protection", format!("{word}: only 802.11g needs it, not {this}; expected \"none\""), cx);
    }
}

fn windows(t: &mut RadioTable, d: &Defaults, s: &Switches, path: &Path<'_>, cx: &mut Cx<'_>) {
    let cw_min = *t.cw_min.get_or_insert(d.cw_min);
    for (key, value) in [("cw_min", cw_min), ("cw_max", t.cw_max)] {
        if !(value + 1).is_power_of_two() {
            let below = (value + 1).next_power_of_two() / 2 - 1;
            cx.error(t.locations.of(key), &path.child(key), || {
                format!(
                    "{value}: expected one less than a power of two, such as {below} or {}",
                    2 * below + 1
                )
            });
        }
    }
    if cw_min > t.cw_max && (t.locations.has("cw_min") || !t.locations.refused("standard")) {
        cx.error(t.locations.of_any(&["cw_min", "cw_max"]), &path.child("cw_min"), || {
            format!("{cw_min}: larger than cw_max; expected at most {}", t.cw_max)
        });
    }
    let (slot, usual) = standard::slot(t.standard, t.short_slot);
    let slot = slot + COVERAGE_STEP * u64::from(t.coverage_class);
    let delay = *t.sensing_delay.get_or_insert(s.sensing_delay.unwrap_or(usual));
    if delay > slot {
        cx.error(t.locations.of("sensing_delay"), &path.child("sensing_delay"), || {
            format!("{}: longer than a slot; expected at most {}", delay.write(), slot.write())
        });
    }
}

/// The limit of local flows, which is off where a full queue does not hold them back.
fn local_limit(t: &mut RadioTable, s: &Switches, tcp: &Tcp, (path, cx): (&Path<'_>, &mut Cx<'_>)) {
    let limit = t.local_limit.get_or_insert(Or::maybe(s.local_limit.filter(|_| tcp.limits_local())));
    if t.backpressure.unwrap_or(s.backpressure) {
        return;
    }
    let switched_off = matches!(
        precedence(t.locations.of("backpressure"), t.locations.of("local_limit")),
        Precedence::First if t.locations.has("backpressure")
    );
    if limit.0.is_some() && t.locations.has("local_limit") && !switched_off {
        // The key stays in the complete form, which gives the same warning.
        cx.warnings.push(format!(
            "{} has no effect: a full queue drops, backpressure = false",
            path.child("local_limit")
        ));
    } else {
        *limit = Or::NONE;
    }
}

fn phy(t: &mut RadioTable, d: &Defaults, s: &Switches) -> PhySpec {
    PhySpec {
        standard: t.standard,
        data_rate: *t.data_rate.get_or_insert(d.data_rate),
        basic_rates: t.basic_rates.get_or_insert_with(|| d.basic_rates.to_vec()).clone(),
        broadcast_rate: *t.broadcast_rate.get_or_insert(d.broadcast_rate),
        preamble: t.preamble,
        short_slot: t.short_slot,
        protection: t.protection,
        tx_power: t.tx_power,
        preamble_detect: *t.preamble_detect.get_or_insert(PREAMBLE_DETECT),
        energy_detect: *t.energy_detect.get_or_insert(PREAMBLE_DETECT),
        cutoff: *t.cutoff.get_or_insert(PREAMBLE_DETECT),
        noise: *t.noise.get_or_insert(standard::noise(t.standard, NOISE_FIGURE.0)),
        lock_on: *t.lock_on.get_or_insert(s.lock_on),
        lock_sinr: t.lock_sinr,
        preamble_detection: *t.preamble_detection.get_or_insert(s.preamble_detection),
        relock: t.relock.0,
        interference: *t.interference.get_or_insert(s.interference),
        error_model: t.error_model,
        frame_loss: t.frame_loss,
        capture: *t.capture.get_or_insert(s.capture),
        sensitivity: *t.sensitivity.get_or_insert(Sensitivity::PerRate),
    }
}

fn mac(t: &mut RadioTable, edca: Option<EdcaSpec>, d: &Defaults, s: &Switches) -> MacSpec {
    let (_, sensing_delay) = standard::slot(t.standard, t.short_slot);
    let backpressure = *t.backpressure.get_or_insert(s.backpressure);
    MacSpec {
        rts_threshold: t.rts_threshold,
        rts_from_attempt: t.rts_from_attempt.0,
        cw_min: *t.cw_min.get_or_insert(d.cw_min),
        cw_max: t.cw_max,
        edca,
        short_retry_limit: *t.short_retry_limit.get_or_insert(s.short_retry_limit),
        long_retry_limit: t.long_retry_limit,
        eifs: *t.eifs.get_or_insert(s.eifs),
        eifs_on_energy: *t.eifs_on_energy.get_or_insert(s.eifs_on_energy),
        nav_reset: *t.nav_reset.get_or_insert(s.nav_reset),
        cts_needs_idle_nav: *t.cts_needs_idle_nav.get_or_insert(s.cts_needs_idle_nav),
        cts_needs_idle_carrier: *t.cts_needs_idle_carrier.get_or_insert(s.cts_needs_idle_carrier),
        eifs_as_nav: *t.eifs_as_nav.get_or_insert(s.eifs_as_nav),
        immediate_access: *t.immediate_access.get_or_insert(s.immediate_access),
        after_timeout: *t.after_timeout.get_or_insert(s.after_timeout),
        response_timeout: *t.response_timeout.get_or_insert(s.response_timeout),
        coverage_class: t.coverage_class,
        timeout_distance: t.timeout_distance,
        sensing_delay: *t.sensing_delay.get_or_insert(s.sensing_delay.unwrap_or(sensing_delay)),
        mac_queue: t.mac_queue,
        backpressure,
        local_limit: t.local_limit.as_ref().and_then(|limit| limit.0).filter(|_| backpressure),
    }
}

/// The standard's name without quotes.
pub(crate) fn standard_name(standard: Standard) -> String {
    standard.write().replace('"', "")
}
