//! The laws of an expert, checked on every one of them by name: a new expert that is declared is under them.

use truecast::expert::{AnyExpert, Expert, ExpertKind, Occasion, Told};
use truecast::recalibrate::Mixture;
use truecast::{Gaussian, Groups, Parameters};
use truecast_streams::Draws;

/// All laws, for every expert with and without lags and a half-life.
pub fn expert_laws() {
    for &kind in ExpertKind::ALL {
        for (lags, half_life) in [(true, None), (false, None), (true, Some(20.0))] {
            let mut builder = Parameters::builder().experts(&[kind]).lags(lags);
            if let Some(outcomes) = half_life {
                builder = builder.half_life(outcomes);
            }
            let law = Law { kind, parameters: builder.build().unwrap() };
            law.begins_with_the_base();
            law.saying_is_pure();
            law.says_probabilities_whatever_happens();
            law.saved_experts_go_on();
        }
    }
}

struct Law {
    kind: ExpertKind,
    parameters: Parameters,
}

/// One forecast as it is put to an expert.
struct Question {
    forecast: Gaussian,
    widths: Vec<f64>,
    recent: [f64; 2],
    step: u64,
}

impl Question {
    fn new(parameters: &Parameters, draws: &mut Draws, step: u64) -> Self {
        let scale = (2.0 * draws.normal()).exp();
        let forecast = Gaussian::new(10.0 * scale * draws.normal(), scale).unwrap();
        let widths = parameters.levels().gaps().iter().map(|gap| gap * scale).collect();
        let recent = [draws.normal(), draws.normal()].map(|x| x.clamp(-3.0, 3.0));
        Question { forecast, widths, recent, step }
    }

    fn occasion<'a>(&'a self, parameters: &'a Parameters) -> Occasion<'a> {
        Occasion {
            forecast: &self.forecast,
            levels: parameters.levels(),
            widths: &self.widths,
            location: self.forecast.mean(),
            log_scale: self.forecast.std().ln(),
            recent: self.recent,
            groups: Groups::NONE,
            step: self.step,
        }
    }
}

/// What was said, what is to be remembered, and where the outcome fell.
struct Answer {
    question: Question,
    said: Vec<f64>,
    memo: Vec<f64>,
}

impl Law {
    fn start(&self) -> AnyExpert {
        let mixture = Mixture::new(self.parameters.clone());
        mixture.experts().iter().find(|expert| expert.kind() == self.kind).unwrap().clone()
    }

    fn ask(&self, expert: &AnyExpert, question: Question) -> Answer {
        let mut said = vec![f64::NAN; self.parameters.levels().count()];
        let mut memo = Vec::new();
        expert.say(&question.occasion(&self.parameters), &mut said, &mut memo);
        assert_eq!(memo.len(), expert.memo_length(), "{}: as much as it said it would remember", self.kind);
        assert!(expert.accepts(&memo), "{}: {memo:?}", self.kind);
        assert!(said.iter().all(|p| (0.0..=1.0).contains(p)), "{}: {said:?}", self.kind);
        Answer { question, said, memo }
    }

    fn tell(&self, expert: &mut AnyExpert, answer: &Answer, z: f64, late: bool) {
        expert.learn(&Told {
            levels: self.parameters.levels(),
            widths: &answer.question.widths,
            said: &answer.said,
            memo: &answer.memo,
            z,
            late,
        });
        assert!(expert.is_valid(), "{}: after an outcome at {z}: {expert:?}", self.kind);
    }

    /// To 1e-15: of nothing it knows nothing but the base.
    fn begins_with_the_base(&self) {
        let question = Question::new(&self.parameters, &mut Draws::new(1), 0);
        let said = self.ask(&self.start(), question).said;
        for (p, u) in said.iter().zip(self.parameters.levels().probabilities()) {
            assert!((p - u).abs() <= 1e-15, "{}: {p} at {u}", self.kind);
        }
    }

    /// Asking twice, and something else in between, gives the same bits, and changes nothing.
    fn saying_is_pure(&self) {
        let (mut expert, mut draws) = (self.start(), Draws::new(2));
        for step in 0..100 {
            let before = expert.clone();
            let ask = |expert: &AnyExpert| {
                self.ask(expert, Question::new(&self.parameters, &mut Draws::new(step), step))
            };
            let (first, other) = (ask(&expert), Question::new(&self.parameters, &mut draws, 7));
            self.ask(&expert, other);
            let again = ask(&expert);
            let bits = |answer: &Answer| {
                answer.said.iter().chain(&answer.memo).map(|x| x.to_bits()).collect::<Vec<_>>()
            };
            assert_eq!(bits(&first), bits(&again), "{}: asking changed the answer", self.kind);
            assert_eq!(expert, before, "{}: asking changed the expert", self.kind);
            expert.announced(first.question.forecast.mean(), first.question.forecast.std().ln());
            self.tell(&mut expert, &first, 2.0 * draws.normal(), false);
        }
    }

    /// Outcomes at infinity and 1e300, ties, always the same, and late by up to nine forecasts in any order: probabilities throughout.
    fn says_probabilities_whatever_happens(&self) {
        let constant = |z: f64| move |_: &mut Draws| z;
        let drawn = |draws: &mut Draws| match (9.0 * draws.uniform()) as u32 {
            0 => f64::INFINITY,
            1 => f64::NEG_INFINITY,
            2 => 1e300,
            3 => -1e300,
            4 => 0.0,
            _ => 3.0 * draws.normal(),
        };
        let streams: [&dyn Fn(&mut Draws) -> f64; 8] = [
            &drawn,
            &constant(f64::INFINITY),
            &constant(f64::NEG_INFINITY),
            &constant(1e300),
            &constant(-1e300),
            &constant(0.0),
            &constant(-0.7),
            &constant(6.0),
        ];
        for stream in streams {
            let (mut expert, mut draws) = (self.start(), Draws::new(3));
            let mut waiting = Vec::new();
            for step in 0..400 {
                let answer = self.ask(&expert, Question::new(&self.parameters, &mut draws, step));
                expert.announced(answer.question.forecast.mean(), answer.question.forecast.std().ln());
                waiting.push(answer);
                while waiting.len() > 9 || (!waiting.is_empty() && draws.coin()) {
                    let next = (draws.uniform() * waiting.len() as f64) as usize;
                    let answer = waiting.swap_remove(next);
                    let z = stream(&mut draws);
                    self.tell(&mut expert, &answer, z, !waiting.is_empty());
                }
            }
        }
    }

    /// Saved inside of a mixture at any step and loaded, it is the same, and says the same.
    fn saved_experts_go_on(&self) {
        use truecast::Recalibrator;
        let (mut mixture, mut draws) = (Mixture::new(self.parameters.clone()), Draws::new(4));
        for step in 0..120 {
            let question = Question::new(&self.parameters, &mut draws, step);
            let saved = serde_json::to_string(&mixture).unwrap();
            let mut loaded: Mixture = serde_json::from_str(&saved).unwrap();
            assert_eq!(loaded, mixture, "{}: loaded at step {step}", self.kind);
            let y = question.forecast.mean() + 3.0 * question.forecast.std() * draws.normal();
            for mixture in [&mut mixture, &mut loaded] {
                mixture.observe(&question.forecast, y).unwrap();
            }
            assert_eq!(loaded, mixture, "{}: loaded at step {step}, and one further", self.kind);
        }
    }
}
