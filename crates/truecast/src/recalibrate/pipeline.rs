//! A method behind the stop-loss and the guard: what is announced.
//!
//! ```text
//! forecast F ─► method (experts, by default) ─► map ─► stop-loss ─► paired guard, priced ─► G
//! ```
//!
//! Guarantee, on every stream: theorem 1 (`stop_loss.rs`) for any method; theorem 3 (`guard.rs`) while the stop-loss does not hold the guard back.
//! Before any outcome G is F. Cost: that of the method, two worst cases and two scores.

use serde::{Deserialize, Serialize};

use super::guard::{self, Guard, INTERVALS, Intervals};
use super::plan::Room;
use super::stop_loss::{FOR_GUARD, Stake, StopLoss};
use super::{Curve, Groups, GuardMode, Mixture, Parameters, Plan, Protection, Recalibrator, Scores};
use crate::error::{self, Error, Result, SnapshotError};
use crate::forecast::{Forecast, Recalibrated};
use crate::monitor::Certificate;
use crate::score::form::{Form, LARGEST_SCORE};
use crate::score::table::Table;
use crate::stream::Snapshot;

/// Blends that are smaller than this are none.
const SMALLEST_BLEND: f64 = 1e-6;

/// A method behind stop-loss and guard; [`Default`] is what to start with, [`Parameters`] what can be changed.
///
/// ```
/// use truecast::{Forecast, Gaussian, Pipeline, Recalibrator};
///
/// let mut recalibrator = Pipeline::default();
/// let forecast = Gaussian::new(20.0, 2.0)?;
/// let calibrated = recalibrator.recalibrate(forecast)?; // changes nothing
/// assert_eq!(calibrated.quantile(0.9), forecast.quantile(0.9)); // no outcome yet
/// recalibrator.observe(&forecast, 23.0)?;
/// println!("{}", recalibrator.certificate());
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved<M>", bound(deserialize = "M: Recalibrator + Deserialize<'de>"))]
pub struct Pipeline<M = Mixture> {
    method: M,
    protection: Protection,
    /// Books, whether or not it binds; there is none where nothing protects.
    account: Option<StopLoss>,
    guard: Option<Guard>,
}

impl Default for Pipeline {
    fn default() -> Self {
        Pipeline::new(Parameters::default())
    }
}

impl Pipeline {
    /// A recalibrator that has seen nothing.
    pub fn new(parameters: Parameters) -> Self {
        let protection = parameters.protection;
        Pipeline::around(Mixture::new(parameters), protection)
    }

    /// What it was built with.
    pub fn parameters(&self) -> &Parameters {
        self.method.parameters()
    }
}

impl<M: Recalibrator> Pipeline<M> {
    /// Puts a method behind stop-loss and guard. `protection` must be [valid](Protection::validate).
    pub fn around(method: M, protection: Protection) -> Self {
        let protects = protection != Protection::NONE;
        Pipeline {
            method,
            protection,
            account: protects.then(|| StopLoss::new(protection.stop_loss)),
            guard: (protection.guard != GuardMode::Off).then(Guard::default),
        }
    }

    /// The method itself.
    pub fn method(&self) -> &M {
        &self.method
    }

    /// What protects.
    pub fn protection(&self) -> &Protection {
        &self.protection
    }

    /// The account of the stop-loss, unless nothing protects.
    pub fn account(&self) -> Option<&StopLoss> {
        self.account.as_ref()
    }

    /// The guard, if it is on.
    pub fn guard(&self) -> Option<&Guard> {
        self.guard.as_ref()
    }

    /// What is promised, and what was measured.
    pub fn certificate(&self) -> Certificate {
        Certificate::new(self.account(), self.guard(), self.protection.guard, self.method.ledgers())
    }

    /// Blends the base towards the map, and the result towards the guarded map, as far as the account allows.
    fn protect(&self, account: &StopLoss, form: &Form, plan: &mut Plan) {
        let expected = form.expected_score();
        let cushion = account.cushion(expected);
        let identity = plan.map.curve().is_some_and(Curve::is_identity);
        plan.room.map.copy_from(plan.map.curve_mut());
        let mut stage = Stage { form, room: &mut plan.room, values: &mut plan.values };
        stage.start(identity);
        let strict = self.protection.guard == GuardMode::Strict;
        let at_once = plan.at_once && account.pending() == 0 && !strict;
        let places = self.guard.as_ref().map(|guard| guard.places(account.pending()));
        plan.ends.clear();
        plan.ends.resize(if places.is_some() { 2 * INTERVALS } else { 0 }, 0.0);
        if !strict {
            plan.before_guard = None;
        }
        let free = at_once.then(|| stage.free(cushion, account.part(), places.as_ref(), &mut plan.ends));
        let (blends, reserved) = if let Some(Some(reserved)) = free {
            ([1.0; 2], reserved)
        } else {
            let allowed = cushion * account.part();
            let (map_blend, map_risk) = if identity { (1.0, 0.0) } else { stage.limit_map(allowed) };
            if strict {
                let (curve, values) = plan.before_guard.get_or_insert_default();
                curve.copy_from(&stage.room.map);
                values.clone_from(stage.values);
            }
            let left = FOR_GUARD * (cushion - map_risk).max(0.0);
            let allowed = if strict { f64::INFINITY } else { left };
            let limited = places.map(|h| stage.limit_guard(&h, allowed, &mut plan.ends));
            let (guard_blend, guard_risk) = limited.unwrap_or((1.0, 0.0));
            ([map_blend, guard_blend], if strict { map_risk } else { map_risk + guard_risk })
        };
        let fresh = identity && self.guard.as_ref().is_none_or(|guard| guard.steps() == 0);
        let reserved = if account.binds() { reserved } else { 0.0 };
        plan.stake = Stake { reserved, expected, blends };
        if fresh {
            plan.map.set_identity();
        } else {
            plan.map.curve_mut().copy_from(&plan.room.map);
        }
        Self::announce(form, fresh, plan);
    }

    /// The probit scores of an outcome that is within the bounds.
    fn scores(&self, plan: &Plan, forecast: &dyn Forecast, outcome: f64) -> Result<Scores> {
        error::finite("outcome", outcome)?;
        error::within_bounds(outcome, self.protection.bounds)?;
        super::scores(plan, forecast, outcome, self.seed())
    }

    /// What the outcome is to the account; `None` where nothing is booked.
    fn booked(&self, plan: &Plan, forecast: &dyn Forecast, outcome: f64) -> Result<Option<Booked>> {
        match &self.account {
            None => return Ok(None),
            Some(account) if account.pending() == 0 => return Err(Error::NotAnnounced),
            Some(_) => {}
        }
        let mut made = None;
        let form = match &plan.form {
            Some(form) => &**form,
            None => {
                let form = made.insert(Form::default());
                form.take(forecast, self.protection.bounds)?;
                form
            }
        };
        let z = error::score(form.z(outcome))?;
        let base = form.base_score(outcome);
        let announced = match (&plan.before_guard, plan.map.curve()) {
            (Some((curve, values)), _) => form.score(curve, values, outcome),
            (None, Some(curve)) => form.score(curve, &plan.values, outcome),
            (None, None) => base,
        };
        for (what, value) in
            [("score of the base forecast", base), ("score of the announced forecast", announced)]
        {
            if !value.is_finite() {
                return Err(Error::NotFinite { what, value });
            }
            if value >= LARGEST_SCORE {
                return Err(Error::OutOfRange {
                    what,
                    rule: "below 1e290, so that scores can be summed",
                    value,
                });
            }
        }
        Ok(Some(Booked { z, base, announced }))
    }

    /// What is not a map over its base: tables of quantiles, and what ends at bounds.
    fn announce(form: &Form, fresh: bool, plan: &mut Plan) {
        if let Some(table) = form.table() {
            if !fresh || form.bounds().is_some() {
                let place = |t| plan.map.curve().map_or(t, |curve| curve.place(t));
                let announced = table.announced(&plan.values, place);
                plan.map.announce(announced);
            }
        } else if let (Some((low, high)), Some(base)) = (form.bounds(), form.normal())
            && let Some(curve) = Recalibrated::new(base, &plan.map).curve()
        {
            let within = curve.within(low, high);
            plan.map.announce(within);
        }
    }
}

/// What is booked of an outcome: its probit score, and the scores of the base and of what was announced.
struct Booked {
    z: f64,
    base: f64,
    announced: f64,
}

/// The stages between a map and what is announced. `room.map` is the curve that was reached, `values` are its quantiles over a table.
struct Stage<'a> {
    form: &'a Form,
    room: &'a mut Room,
    values: &'a mut Vec<f64>,
}

impl Stage<'_> {
    fn start(&mut self, identity: bool) {
        self.values.clear();
        if let (Some(table), true) = (self.form.table(), identity) {
            table.render(table.probits().iter().copied(), self.values);
        }
    }

    /// Whether map and guard are so cheap beside what is allowed that nothing holds them back, judged by a bound on their worst cases. If so, all is done
    /// as it would be, and the bound is what they can cost.
    fn free(&mut self, cushion: f64, part: f64, h: Option<&Intervals>, ends: &mut [f64]) -> Option<f64> {
        let Stage { form, room, .. } = self;
        let Room { map, blend, guarded, .. } = &mut **room;
        form.normal()?;
        blend.set_identity();
        let map_risk = form.worst_case_at_most(map, blend);
        let Some(h) = h else { return (map_risk <= cushion * part).then_some(map_risk) };
        let mut inner = [0.0; 2 * INTERVALS];
        guard::guarded(map, h, &mut inner, guarded);
        let guard_risk = form.worst_case_at_most(guarded, map);
        if map_risk > cushion * part || guard_risk > FOR_GUARD * (cushion - map_risk) {
            return None;
        }
        ends.copy_from_slice(&inner);
        map.copy_from(guarded);
        Some(map_risk + guard_risk)
    }

    /// The base blended towards `room.map` within what is allowed: the weight, and the worst case.
    fn limit_map(&mut self, allowed: f64) -> (f64, f64) {
        let Stage { form, room, values } = self;
        let Room { map, blend, guarded, base, from, to, .. } = &mut **room;
        let Some(table) = form.table() else {
            guarded.set_identity();
            let risk = form.worst_case(map, guarded);
            if risk <= allowed {
                return (1.0, risk.max(0.0));
            }
            // The score is convex in the blend, so one step is enough.
            let l = weight(allowed / risk);
            if l == 0.0 {
                map.set_identity();
                return (0.0, 0.0);
            }
            blend.set_blend(guarded, map, l);
            map.copy_from(blend);
            return (l, allowed);
        };
        refill(from, table.probits().iter().copied());
        refill(to, table.probits().iter().map(|&t| map.place(t)));
        table.render(from.iter().copied(), base);
        let (l, risk) = limit_table(table, base, (from, to), allowed, values);
        if l == 0.0 {
            map.set_identity();
        } else if l < 1.0 {
            guarded.set_identity();
            blend.set_blend(guarded, map, l);
            map.copy_from(blend);
        }
        (l, risk)
    }

    /// `room.map` blended towards its guarded form within what is allowed. `ends` become the places of the guarded intervals.
    fn limit_guard(&mut self, h: &Intervals, allowed: f64, ends: &mut [f64]) -> (f64, f64) {
        let Stage { form, room, values } = self;
        let Room { map, blend, guarded, base, from, to, .. } = &mut **room;
        let t = &*guard::ENDS;
        let mut inner = [0.0; 2 * INTERVALS];
        guard::guarded(map, h, &mut inner, guarded);
        let (l, risk) = match form.table() {
            None => {
                let risk = if allowed.is_finite() { form.worst_case(guarded, map).max(0.0) } else { 0.0 };
                match weight(allowed / risk) {
                    _ if risk <= allowed => (1.0, risk),
                    0.0 => (0.0, 0.0),
                    l => (l, allowed),
                }
            }
            Some(table) => {
                refill(from, table.probits().iter().map(|&t| map.place(t)));
                refill(to, table.probits().iter().map(|&x| map.place(guard::odd(x, t, h))));
                std::mem::swap(base, *values);
                limit_table(table, base, (from, to), allowed, values)
            }
        };
        for (k, end) in ends.iter_mut().enumerate() {
            let t = if k < INTERVALS { -t[INTERVALS - 1 - k] } else { t[k - INTERVALS] };
            *end = if l < 1.0 { (1.0 - l) * map.place(t) + l * inner[k] } else { inner[k] };
        }
        if l >= 1.0 {
            map.copy_from(guarded);
        } else if l > 0.0 {
            blend.set_blend(map, guarded, l);
            map.copy_from(blend);
        }
        (l, risk)
    }
}

/// The blend of a table's places, `from` towards `to`, whose worst case against the quantiles `base` is allowed: its weight and that worst case. `values`
/// become its quantiles.
fn limit_table(
    table: &Table,
    base: &[f64],
    (from, to): (&[f64], &[f64]),
    allowed: f64,
    values: &mut Vec<f64>,
) -> (f64, f64) {
    let mut l = 1.0;
    loop {
        let places =
            from.iter().zip(to).map(|(&from, &to)| if l < 1.0 { (1.0 - l) * from + l * to } else { to });
        table.render(places, values);
        let risk = table.worst_case(values, base);
        if risk <= allowed || l == 0.0 {
            return (l, if l == 0.0 { 0.0 } else { risk });
        }
        // Quantiles of a table are not straight in the blend, so that one step need not be enough.
        l = weight(l * (0.99 * allowed / risk).min(0.8));
    }
}

/// A weight, or 0 where it is next to nothing.
fn weight(l: f64) -> f64 {
    if l < SMALLEST_BLEND { 0.0 } else { l.min(1.0) }
}

fn refill(room: &mut Vec<f64>, values: impl Iterator<Item = f64>) {
    room.clear();
    room.extend(values);
}

impl<M: Recalibrator> Recalibrator for Pipeline<M> {
    fn propose(&self, forecast: &dyn Forecast, groups: Groups, step: u64, plan: &mut Plan) -> Result<()> {
        self.method.propose(forecast, groups, step, plan)?;
        plan.ends.clear();
        plan.values.clear();
        if let (Some(account), Some(form)) = (&self.account, plan.form.take()) {
            self.protect(account, &form, plan);
            plan.form = Some(form);
        }
        Ok(())
    }

    fn announced(&mut self, plan: &Plan) {
        self.method.announced(plan);
        if let Some(account) = &mut self.account {
            account.announce(&plan.stake);
        }
    }

    fn learn(&mut self, plan: &Plan, z: f64) -> Result<()> {
        self.method.learn(plan, z)
    }

    fn learn_outcome(&mut self, plan: &Plan, z: f64, outcome: f64) -> Result<()> {
        self.method.learn_outcome(plan, z, outcome)
    }

    fn resolve(&mut self, plan: &Plan, forecast: &dyn Forecast, outcome: f64) -> Result<Scores> {
        let scores = self.scores(plan, forecast, outcome)?;
        let Some(booked) = self.booked(plan, forecast, outcome)? else {
            self.method.learn_outcome(plan, scores.base, outcome)?;
            return Ok(scores);
        };
        let Booked { z, base, announced } = booked;
        self.method.learn_outcome(plan, z, outcome)?;
        if let Some(account) = &mut self.account {
            account.settle(&plan.stake, base, announced);
        }
        if let Some(guard) = &mut self.guard {
            let (lower, upper) = plan.ends.split_at(INTERVALS);
            let covered = lower.iter().rev().zip(upper).map(|(low, high)| (*low..=*high).contains(&z));
            let priced = self.protection.guard == GuardMode::Priced;
            guard.learn(covered, priced && plan.stake.blends[1] < 1.0);
        }
        let crps = self.books_crps(forecast).then_some([base, announced]);
        Ok(Scores { crps, ..scores })
    }

    fn check(&self, plan: &Plan, forecast: &dyn Forecast, outcome: f64) -> Result<()> {
        self.scores(plan, forecast, outcome)?;
        self.booked(plan, forecast, outcome).map(|_| ())
    }

    fn expire(&mut self, plan: &Plan) {
        self.method.expire(plan);
        if let Some(account) = &mut self.account {
            account.expire(&plan.stake);
        }
    }

    fn bounds(&self) -> Option<(f64, f64)> {
        self.protection.bounds
    }

    fn reads_form(&self) -> bool {
        self.account.is_some() || self.method.reads_form()
    }

    fn books_crps(&self, forecast: &dyn Forecast) -> bool {
        let strict = self.protection.guard == GuardMode::Strict;
        self.account.is_some()
            && !strict
            && self.protection.bounds.is_none()
            && forecast.as_gaussian().is_some()
    }

    fn ledgers(&self) -> Option<&crate::expert::Ledgers> {
        self.method.ledgers()
    }

    fn steps(&self) -> u64 {
        self.method.steps()
    }

    fn seed(&self) -> u64 {
        self.method.seed()
    }

    fn waits(&self) -> Option<u64> {
        self.account.as_ref().map(StopLoss::pending)
    }

    fn validate_plan(&self, plan: &Plan) -> Result<(), SnapshotError> {
        self.method.validate_plan(plan)?;
        plan.validate_stake(self.guard.is_some())
    }
}

/// The saved form: what it was is checked before it is used.
#[derive(Deserialize)]
struct Saved<M> {
    method: M,
    protection: Protection,
    account: Option<StopLoss>,
    guard: Option<Guard>,
}

impl<M: Recalibrator> TryFrom<Saved<M>> for Pipeline<M> {
    type Error = Error;
    fn try_from(saved: Saved<M>) -> Result<Self> {
        let Saved { method, protection, account, guard } = saved;
        protection.validate()?;
        let empty = Pipeline::around(method, protection);
        if (account.is_some(), guard.is_some()) != (empty.account.is_some(), empty.guard.is_some()) {
            let rule = "what the settings say";
            return Err(SnapshotError::Invalid { field: "stop-loss and guard", rule }.into());
        }
        if let Some(account) = &account {
            account.validate(protection.stop_loss)?;
        }
        if let Some(guard) = &guard {
            guard.validate()?;
        }
        Ok(Pipeline { account, guard, ..empty })
    }
}

impl<M: Snapshot> Snapshot for Pipeline<M> {
    fn name() -> String {
        format!("pipeline/{}", M::name())
    }
}
