//! Which memory travels in which detail: the multiple-choice knapsack.
//!
//! Each memory offers levels of detail, each with a cost in tokens and a value; at most one level of each is taken, for
//! the most total value within the budget. Solved by dynamic programming over the budget in at most `COLUMNS_MAX` units
//! (exact up to that many tokens), then filled up to the last token; never worse than the greedy choice by value for
//! cost, which is tried as well. Deterministic: ties go to the earlier memory.

/// Units that the budget is divided into; costs are rounded up to whole units.
const COLUMNS_MAX: usize = 1_024;

/// One level of detail.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Level {
    /// What it costs.
    pub tokens: u32,
    /// What it is worth; more detail is worth more.
    pub value: f64,
}

/// The levels of one memory, from the least to the most detail.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Menu {
    pub levels: Vec<Level>,
    /// Whether at least the first level must be taken.
    pub required: bool,
}

/// For each menu the level taken.
pub(super) type Choice = Vec<Option<usize>>;

/// The best choice found, or none if what is required does not fit.
pub(super) fn choose(menus: &[Menu], budget_tokens: u32) -> Option<Choice> {
    let base: Choice = menus.iter().map(|menu| menu.required.then_some(0)).collect();
    if cost(menus, &base) > u64::from(budget_tokens) {
        return None;
    }
    let greedy = filled(menus, base.clone(), budget_tokens);
    let planned = planned(menus, budget_tokens).map(|choice| filled(menus, choice, budget_tokens));
    let better = planned.filter(|choice| value(menus, choice) > value(menus, &greedy));
    Some(better.unwrap_or(greedy))
}

fn level(menus: &[Menu], index: usize, taken: Option<usize>) -> Option<&Level> {
    menus.get(index)?.levels.get(taken?)
}

/// What a choice costs.
pub(super) fn cost(menus: &[Menu], choice: &Choice) -> u64 {
    let levels = choice.iter().enumerate().filter_map(|(index, taken)| level(menus, index, *taken));
    levels.map(|level| u64::from(level.tokens)).sum()
}

/// What a choice is worth.
pub(super) fn value(menus: &[Menu], choice: &Choice) -> f64 {
    let levels = choice.iter().enumerate().filter_map(|(index, taken)| level(menus, index, *taken));
    levels.map(|level| level.value).sum()
}

/// Takes the upgrade with the most value for its cost, as long as one fits.
pub(super) fn filled(menus: &[Menu], choice: Choice, budget_tokens: u32) -> Choice {
    let left = u64::from(budget_tokens).saturating_sub(cost(menus, &choice));
    upgraded(menus, choice, u32::try_from(left).unwrap_or(u32::MAX))
}

/// The same, with so many tokens left to spend.
pub(super) fn upgraded(menus: &[Menu], mut choice: Choice, left_tokens: u32) -> Choice {
    let mut left = u64::from(left_tokens);
    while let Some((index, taken, extra)) = best_upgrade(menus, &choice, left) {
        if let Some(slot) = choice.get_mut(index) {
            *slot = Some(taken);
        }
        left -= extra;
    }
    choice
}

fn best_upgrade(menus: &[Menu], choice: &Choice, left: u64) -> Option<(usize, usize, u64)> {
    let mut best: Option<(f64, (usize, usize, u64))> = None;
    for (index, (menu, taken)) in menus.iter().zip(choice).enumerate() {
        let now = level(menus, index, *taken).copied().unwrap_or(Level { tokens: 0, value: 0.0 });
        for (next, level) in menu.levels.iter().enumerate().skip(taken.map_or(0, |taken| taken + 1))
        {
            let extra = u64::from(level.tokens.saturating_sub(now.tokens));
            let rate = (level.value - now.value) / (extra as f64).max(1.0);
            if extra <= left && rate > 0.0 && best.is_none_or(|(best_rate, _)| rate > best_rate) {
                best = Some((rate, (index, next, extra)));
            }
        }
    }
    best.map(|(_, upgrade)| upgrade)
}

/// Dynamic programming: the best value for each number of units, menu by menu.
fn planned(menus: &[Menu], budget_tokens: u32) -> Option<Choice> {
    let unit_tokens = (budget_tokens as usize).div_ceil(COLUMNS_MAX).max(1);
    let columns = budget_tokens as usize / unit_tokens + 1;
    let mut best = vec![0.0_f64; columns];
    let mut taken_at: Vec<Taken> = Vec::with_capacity(menus.len());
    for menu in menus {
        let (next, taken) = with_menu(menu, &best, unit_tokens);
        best = next;
        taken_at.push(taken);
    }
    traced_back(menus, &best, &taken_at, unit_tokens)
}

fn units(level: &Level, unit_tokens: usize) -> usize {
    (level.tokens as usize).div_ceil(unit_tokens)
}

/// For each column the level that is taken, from 1; 0 is none. Small, since there is one for each menu and column.
type Taken = Vec<u8>;

/// What cannot be reached is worth less than anything, and stays so whatever is added: no test for it in the loop.
const OUT_OF_REACH: f64 = f64::NEG_INFINITY;

/// One more menu: for each column the best value, and the level it takes.
fn with_menu(menu: &Menu, best: &[f64], unit_tokens: usize) -> (Vec<f64>, Taken) {
    let mut next = if menu.required { vec![OUT_OF_REACH; best.len()] } else { best.to_vec() };
    let mut taken = vec![0; best.len()];
    for (number, level) in (1..).zip(&menu.levels) {
        let units = units(level, unit_tokens).min(best.len());
        let (Some(next), Some(taken)) = (next.get_mut(units..), taken.get_mut(units..)) else {
            continue;
        };
        for ((before, now), taken) in best.iter().zip(next).zip(taken) {
            let candidate = before + level.value;
            let better = candidate > *now;
            *now = if better { candidate } else { *now };
            *taken = if better { number } else { *taken };
        }
    }
    (next, taken)
}

fn traced_back(
    menus: &[Menu],
    best: &[f64],
    taken_at: &[Taken],
    unit_tokens: usize,
) -> Option<Choice> {
    let by_value = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0));
    let reached = best.iter().copied().enumerate().filter(|(_, value)| *value > OUT_OF_REACH);
    let (mut column, _) = reached.max_by(by_value)?;
    let mut choice = Vec::with_capacity(menus.len());
    for (menu, taken) in menus.iter().zip(taken_at).rev() {
        let taken = usize::from(*taken.get(column)?).checked_sub(1);
        let level = taken.and_then(|taken| menu.levels.get(taken));
        column = column.checked_sub(level.map_or(0, |level| units(level, unit_tokens)))?;
        choice.push(taken);
    }
    choice.reverse();
    Some(choice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    fn menus(rng: &mut Rng, count: usize, tokens_max: u32) -> Vec<Menu> {
        let menu = |rng: &mut Rng| {
            let (mut tokens, mut value) = (0, 0.0);
            let levels = (0..rng.usize(1..4)).map(|_| {
                tokens += rng.u32(1..tokens_max);
                value += rng.f64();
                Level { tokens, value }
            });
            Menu { levels: levels.collect(), required: rng.u8(..6) == 0 }
        };
        (0..count).map(|_| menu(rng)).collect()
    }

    /// Every choice there is.
    fn exhaustive(menus: &[Menu], budget: u32) -> Option<f64> {
        let Some((first, rest)) = menus.split_first() else { return Some(0.0) };
        let skip = (!first.required).then(|| exhaustive(rest, budget)).flatten();
        let takes = first.levels.iter().filter(|level| level.tokens <= budget);
        let taken =
            takes.filter_map(|level| Some(exhaustive(rest, budget - level.tokens)? + level.value));
        taken.chain(skip).max_by(f64::total_cmp)
    }

    fn greedy(menus: &[Menu], budget: u32) -> f64 {
        let base: Choice = menus.iter().map(|menu| menu.required.then_some(0)).collect();
        value(menus, &filled(menus, base, budget))
    }

    #[test]
    fn small_cases_are_solved_exactly() {
        for seed in 0..300 {
            let rng = &mut Rng::with_seed(seed);
            let (menus, budget) = (menus(rng, 7, 60), rng.u32(0..500));
            let found = choose(&menus, budget);
            let best = exhaustive(&menus, budget);
            assert_eq!(found.is_some(), best.is_some(), "seed {seed}");
            if let (Some(choice), Some(best)) = (found, best) {
                assert!(cost(&menus, &choice) <= u64::from(budget));
                assert!((value(&menus, &choice) - best).abs() < 1e-9, "seed {seed}");
            }
        }
    }

    #[test]
    fn large_budgets_stay_close_to_the_optimum_and_never_below_greedy() {
        let mut worst: f64 = 1.0;
        for seed in 0..200 {
            let rng = &mut Rng::with_seed(seed);
            let (menus, budget) = (menus(rng, 8, 4_000), rng.u32(4_000..30_000));
            let Some(choice) = choose(&menus, budget) else { continue };
            let found = value(&menus, &choice);
            assert!(cost(&menus, &choice) <= u64::from(budget));
            assert!(found >= greedy(&menus, budget) - 1e-9, "seed {seed}");
            let best = exhaustive(&menus, budget).unwrap();
            worst = worst.min(found / best);
        }
        println!("worst ratio to the optimum: {worst:.4}");
        assert!(worst >= 0.97, "{worst}");
    }

    #[test]
    fn nothing_that_fits_is_left_out() {
        for seed in 0..300 {
            let rng = &mut Rng::with_seed(seed);
            let (menus, budget) = (menus(rng, 30, 300), rng.u32(100..9_000));
            let Some(choice) = choose(&menus, budget) else { continue };
            let left = u64::from(budget) - cost(&menus, &choice);
            assert!(best_upgrade(&menus, &choice, left).is_none(), "seed {seed}");
            assert_eq!(choose(&menus, budget), Some(choice), "deterministic");
        }
    }

    #[test]
    fn what_is_required_and_does_not_fit_is_said() {
        let menu = Menu { levels: vec![Level { tokens: 10, value: 1.0 }], required: true };
        assert_eq!(choose(std::slice::from_ref(&menu), 9), None);
        assert_eq!(choose(&[menu], 10), Some(vec![Some(0)]));
    }
}
