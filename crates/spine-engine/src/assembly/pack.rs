//! The best packing that fits (R5), with everything that does not travel in full named or counted (R6).
//!
//! The core is never cut. Of what it leaves, history, progress and decisions get what the memories do not need, at least a
//! quarter; gaps are named while they fit into a tenth. Pins travel in full while together they take at most half of the
//! budget. Then the knapsack decides, and what is left over names trimmed memories and shows older history.

use spine_protocol::{
    Completeness, Detail, Gap, Omitted, PackedMemory, Packing, Part, Piece, Redaction, SealError,
    Trimmed, TrimmedItem, TrimmedTo, Unknown, Unsealed, pieces,
};

use super::choose::{Choice, Menu, choose, cost, filled, upgraded};
use super::error::{AssemblyError, PartTokens};
use super::explain::{Explanation, MemoryExplanation};
use super::offer::{Offer, Priced, Pricing};
use super::settings::Settings;

type Result<T> = std::result::Result<T, AssemblyError>;

/// What goes into an envelope.
#[derive(Clone)]
pub(super) struct Gathered {
    pub offers: Vec<Offer>,
    /// Explicit references that lead nowhere.
    pub gaps: Vec<Gap>,
    /// What else is missing: a search that did not answer, a range that was cut.
    pub notices: Vec<Gap>,
    /// How many explicit references there are, gaps included.
    pub requested: u32,
    /// What was blacked out of the history.
    pub redactions: Vec<Redaction>,
}

/// Chooses what travels in which detail, and what of the lists is shown.
pub(super) fn pack(
    unsealed: &Unsealed,
    gathered: Gathered,
    settings: &Settings<'_>,
) -> Result<(Packing, Explanation)> {
    let scales = Scales { unsealed, settings };
    let pricing = settings.pricing(unsealed.body());
    let natural = gathered.offers.into_iter().map(|offer| pricing.natural(offer));
    let natural = natural.collect::<std::result::Result<Vec<Priced>, SealError>>()?;
    let all_gaps: Vec<Gap> = gathered.gaps.iter().chain(&gathered.notices).cloned().collect();
    let bare = scales.bare(all_gaps, &natural, &gathered.redactions)?;
    let room = bare.room()?;
    let history = scales.fit_history(&bare, history_allowance(room, &natural))?;
    let gaps_reserve = scales.gaps_reserve(&bare, room)?;
    let memory_room = room.saturating_sub(history.tokens + gaps_reserve);
    let (priced, choice) = choose_levels(&pricing, natural, memory_room, &bare)?;
    let mut lists = bare.packing;
    lists.omitted.history = history.omitted.history;
    lists.omitted.progress = history.omitted.progress;
    lists.omitted.decisions = history.omitted.decisions;
    lists.redactions = gathered.redactions;
    let asked = Asked { requested: gathered.requested, missing: gathered.gaps.len() as u32 };
    let (mut packing, chosen) = scales.with_memories(&lists, &asked, &priced, choice)?;
    packing.memories = chosen.iter().flatten().copied().cloned().collect();
    let details = chosen.iter().map(|packed| packed.map(|packed| packed.detail));
    let memories =
        priced.iter().zip(details).map(|(priced, chosen)| MemoryExplanation::of(priced, chosen));
    Ok((packing, Explanation { memories: memories.collect(), degraded: Vec::new() }))
}

/// The explicit references.
struct Asked {
    /// How many there are.
    requested: u32,
    /// How many lead nowhere.
    missing: u32,
}

fn history_allowance(room: u32, natural: &[Priced]) -> u32 {
    let memories: u64 = natural.iter().map(|priced| u64::from(priced.natural_tokens())).sum();
    let not_needed = u64::from(room).saturating_sub(memories);
    (room / 4).max(u32::try_from(not_needed).unwrap_or(u32::MAX))
}

/// The level of each memory that travels.
type Chosen<'a> = Vec<Option<&'a PackedMemory>>;

fn chosen<'a>(priced: &'a [Priced], choice: &Choice) -> Chosen<'a> {
    let level = |(priced, taken): (&'a Priced, &Option<usize>)| priced.levels.get((*taken)?);
    priced.iter().zip(choice).map(level).collect()
}

fn choose_levels(
    pricing: &Pricing<'_>,
    natural: Vec<Priced>,
    room: u32,
    bare: &Bare,
) -> Result<(Vec<Priced>, Choice)> {
    let all: u64 = natural.iter().map(|priced| u64::from(priced.natural_tokens())).sum();
    if all <= u64::from(room) {
        let choice = natural.iter().map(|priced| priced.levels.len().checked_sub(1)).collect();
        return Ok((natural, choice));
    }
    if *pricing.strategy == spine_protocol::Strategy::Full {
        let memories =
            PartTokens { part: "memories", tokens: u32::try_from(all).unwrap_or(u32::MAX) };
        return Err(bare.over_budget(memories));
    }
    let priced = natural.into_iter().map(|priced| pricing.all_levels(priced));
    let priced = priced.collect::<std::result::Result<Vec<Priced>, SealError>>()?;
    let choice = within_budget(&priced, room, bare)?;
    Ok((priced, choice))
}

/// Pins first, within their half; then the rest, with what the pins leave.
fn within_budget(priced: &[Priced], room: u32, bare: &Bare) -> Result<Choice> {
    let pins: Vec<&Priced> = priced.iter().filter(|priced| priced.is_pinned()).collect();
    let menus: Vec<Menu> = pins.iter().map(|pin| pin.menu(true)).collect();
    let half = bare.max_tokens / 2;
    let pin_levels =
        choose(&menus, half.min(room)).or_else(|| choose(&menus, room)).ok_or_else(|| {
            let refs =
                pins.iter().filter_map(|pin| pin.levels.first()).map(|level| level.tokens).sum();
            bare.over_budget(PartTokens { part: "pins", tokens: refs })
        })?;
    let left = u64::from(room).saturating_sub(cost(&menus, &pin_levels));
    let others: Vec<Menu> =
        priced.iter().filter(|p| !p.is_pinned()).map(|p| p.menu(false)).collect();
    let left = u32::try_from(left).unwrap_or(u32::MAX);
    let other_levels =
        choose(&others, left).unwrap_or_else(|| filled(&others, vec![None; others.len()], left));
    let (mut pin_levels, mut other_levels) = (pin_levels.into_iter(), other_levels.into_iter());
    let next =
        |priced: &Priced| if priced.is_pinned() { pin_levels.next() } else { other_levels.next() };
    Ok(priced.iter().map(next).map(Option::flatten).collect())
}

/// The lists with what lost detail or is missing named. One memory stands for all: it is the lists that are weighed.
fn listed(lists: &Packing, asked: &Asked, priced: &[Priced], chosen: &Chosen<'_>) -> Packing {
    let mut packing = lists.clone();
    packing.memories = chosen.iter().flatten().take(1).copied().cloned().collect();
    let with_text = priced.iter().zip(chosen).filter(|(_, c)| c.is_some_and(|c| c.text.is_some()));
    packing.redactions.extend(with_text.flat_map(|(priced, _)| priced.offer.redactions()));
    let items: Vec<TrimmedItem> =
        priced.iter().zip(chosen).filter_map(|(p, c)| trimmed(p, *c)).collect();
    let dropped: Vec<Gap> = priced
        .iter()
        .zip(chosen)
        .filter(|(priced, chosen)| priced.is_explicit() && chosen.is_none())
        .map(|(priced, _)| gap(&priced.offer.id().to_string(), "budget"))
        .collect();
    packing.completeness.requested = asked.requested;
    packing.completeness.included =
        asked.requested.saturating_sub(asked.missing + dropped.len() as u32);
    packing.completeness.gaps.extend(dropped);
    packing.omitted.gaps = packing.completeness.gaps.len() as u32;
    packing.omitted.trimmed = items.len() as u32;
    packing.trimmed = Trimmed { count: items.len() as u32, items, unknown: Unknown::new() };
    packing
}

fn trimmed(priced: &Priced, chosen: Option<&PackedMemory>) -> Option<TrimmedItem> {
    let to = match chosen.map(|packed| packed.detail) {
        None => TrimmedTo::None,
        Some(detail) if detail >= priced.natural => return None,
        Some(Detail::Ref) => TrimmedTo::Ref,
        Some(_) => TrimmedTo::Summary,
    };
    let (id, from) = (priced.offer.id(), priced.natural);
    Some(TrimmedItem { id, from, to, reason: "budget".to_owned(), unknown: Unknown::new() })
}

/// Something that was asked for and is not there.
pub(super) fn gap(reference: &str, reason: &str) -> Gap {
    Gap { reference: reference.to_owned(), reason: reason.to_owned(), unknown: Unknown::new() }
}

/// The rendering with every list only counted: the core, and the least that tells what is missing.
struct Bare {
    packing: Packing,
    parts: Vec<PartTokens>,
    max_tokens: u32,
}

impl Bare {
    fn tokens(&self) -> u32 {
        self.parts.iter().map(|part| part.tokens).sum()
    }

    /// What the core leaves; an error that says what it needs, if it needs more than there is.
    fn room(&self) -> Result<u32> {
        let needed = self.tokens();
        self.max_tokens.checked_sub(needed).ok_or_else(|| AssemblyError::Budget {
            needed,
            max_tokens: self.max_tokens,
            parts: self.parts.clone(),
        })
    }

    fn over_budget(&self, part: PartTokens) -> AssemblyError {
        let needed = self.tokens().saturating_add(part.tokens);
        let parts = self.parts.iter().cloned().chain([part]).collect();
        AssemblyError::Budget { needed, max_tokens: self.max_tokens, parts }
    }

    fn part(&self, name: &str) -> u32 {
        self.parts.iter().find(|part| part.part == name).map_or(0, |part| part.tokens)
    }
}

struct FittedHistory {
    omitted: Omitted,
    tokens: u32,
}

/// Weighs renderings.
struct Scales<'a> {
    unsealed: &'a Unsealed,
    settings: &'a Settings<'a>,
}

impl Scales<'_> {
    fn bare(&self, gaps: Vec<Gap>, offers: &[Priced], redactions: &[Redaction]) -> Result<Bare> {
        let of_memories = offers.iter().flat_map(|priced| priced.offer.redactions());
        let packing = Packing {
            // One memory stands for all, so that the heading above them is counted.
            memories: offers
                .first()
                .and_then(|priced| priced.levels.first())
                .cloned()
                .into_iter()
                .collect(),
            trimmed: Trimmed { count: offers.len() as u32, ..Trimmed::default() },
            omitted: Omitted { gaps: gaps.len() as u32, ..self.all_history() },
            completeness: Completeness { gaps, ..Completeness::default() },
            redactions: redactions.iter().cloned().chain(of_memories).collect(),
            ..self.settings.packing()
        };
        let parts = self.parts(&packing)?;
        Ok(Bare { packing, parts, max_tokens: self.max_tokens() })
    }

    fn max_tokens(&self) -> u32 {
        self.unsealed.body().assembly.max_tokens.saturating_sub(self.settings.reserve_tokens)
    }

    fn all_history(&self) -> Omitted {
        let body = self.unsealed.body();
        Omitted {
            history: body.history.len() as u32,
            progress: body.task.state.progress.len() as u32,
            decisions: body.task.state.decisions.len() as u32,
            ..Omitted::default()
        }
    }

    /// What each part but the memories costs.
    fn parts(&self, packing: &Packing) -> Result<Vec<PartTokens>> {
        let mut parts: Vec<PartTokens> = Vec::new();
        for piece in pieces(&self.unsealed.packed(packing.clone()), &packing.format)? {
            let Some(name) = part_name(piece.part) else { continue };
            let tokens = self.tokens(packing, &piece)?;
            match parts.iter_mut().find(|part| part.part == name) {
                Some(part) => part.tokens += tokens,
                None => parts.push(PartTokens { part: name, tokens }),
            }
        }
        Ok(parts)
    }

    fn part(&self, packing: &Packing, wanted: Part) -> Result<u32> {
        let body = self.unsealed.packed(Packing { memories: Vec::new(), ..packing.clone() });
        let of_part =
            pieces(&body, &packing.format)?.into_iter().filter(|piece| piece.part == wanted);
        of_part.map(|piece| self.tokens(packing, &piece)).sum()
    }

    fn tokens(&self, packing: &Packing, piece: &Piece) -> Result<u32> {
        let counted = self.settings.counter.count(&packing.tokenizer, &piece.text);
        Ok(counted.map_err(SealError::from)?)
    }

    /// The least that must be left out of history, progress and decisions, each by the same share.
    fn fit_history(&self, bare: &Bare, allowance: u32) -> Result<FittedHistory> {
        let least = bare.part("history");
        let mut best = FittedHistory { omitted: self.all_history(), tokens: 0 };
        if best.omitted == Omitted::default() {
            return Ok(best);
        }
        let (mut low, mut high) = (0, SHARES);
        while low < high {
            let kept = (low + high).div_ceil(2);
            let omitted = self.all_history().keeping(kept);
            let packing = Packing { omitted: omitted.clone(), ..bare.packing.clone() };
            let tokens = self.part(&packing, Part::History)?.saturating_sub(least);
            if tokens <= allowance {
                best = FittedHistory { omitted, tokens };
                low = kept;
            } else {
                high = kept - 1;
            }
        }
        Ok(best)
    }

    /// What naming the gaps takes, up to a tenth of the room.
    fn gaps_reserve(&self, bare: &Bare, room: u32) -> Result<u32> {
        let mut packing = bare.packing.clone();
        packing.omitted.gaps = 0;
        let named = self.part(&packing, Part::Missing)?.saturating_sub(bare.part("missing"));
        Ok(named.min(room / 10))
    }

    /// What the lists leave goes to the memories as well, as long as one more level fits: the pins' half may have had
    /// no other taker, and the lists may be shorter than was kept free for them.
    fn with_memories<'p>(
        &self,
        lists: &Packing,
        asked: &Asked,
        priced: &'p [Priced],
        mut choice: Choice,
    ) -> Result<(Packing, Chosen<'p>)> {
        let menus: Vec<Menu> = priced.iter().map(|priced| priced.menu(false)).collect();
        loop {
            let chosen = chosen(priced, &choice);
            let mut packing = listed(lists, asked, priced, &chosen);
            let left = self.name_gaps(&mut packing, cost(&menus, &choice))?;
            let more = upgraded(&menus, choice.clone(), left);
            if more == choice {
                self.use_what_is_left(&mut packing, left)?;
                return Ok((packing, chosen));
            }
            choice = more;
        }
    }

    /// Names as many gaps as the budget allows beside the memories; gives back what is left then.
    fn name_gaps(&self, packing: &mut Packing, memories_tokens: u64) -> Result<u32> {
        let lists: u32 = self.parts(packing)?.iter().map(|part| part.tokens).sum();
        let left = u64::from(self.max_tokens()).saturating_sub(memories_tokens + u64::from(lists));
        let left = u32::try_from(left).unwrap_or(u32::MAX);
        self.show_more(packing, left, Part::Missing, |omitted| &mut omitted.gaps)
    }

    /// Names as many trimmed memories, then shows as much older history, as the rest of the budget allows.
    fn use_what_is_left(&self, packing: &mut Packing, left: u32) -> Result<()> {
        let left = self.show_more(packing, left, Part::Missing, |omitted| &mut omitted.trimmed)?;
        let left =
            self.show_more(packing, left, Part::History, |omitted| &mut omitted.decisions)?;
        let left = self.show_more(packing, left, Part::History, |omitted| &mut omitted.progress)?;
        self.show_more(packing, left, Part::History, |omitted| &mut omitted.history)?;
        Ok(())
    }

    /// Leaves out as little of one list as fits; gives back what is left then.
    fn show_more(
        &self,
        packing: &mut Packing,
        left: u32,
        part: Part,
        list: impl Fn(&mut Omitted) -> &mut u32,
    ) -> Result<u32> {
        let (mut low, mut high) = (0, *list(&mut packing.omitted));
        if high == 0 {
            return Ok(left);
        }
        let before = self.part(packing, part)?;
        let mut spent = 0;
        while low < high {
            let omitted = (low + high) / 2;
            let mut tried = packing.clone();
            *list(&mut tried.omitted) = omitted;
            let extra = self.part(&tried, part)?.saturating_sub(before);
            if extra <= left {
                high = omitted;
                spent = extra;
            } else {
                low = omitted + 1;
            }
        }
        *list(&mut packing.omitted) = high;
        Ok(left - spent)
    }
}

/// In how many steps the shares of the history are tried.
const SHARES: u32 = 64;

trait Keeping {
    fn keeping(&self, shares: u32) -> Self;
}

impl Keeping for Omitted {
    /// With so many of the `SHARES` kept of each list.
    fn keeping(&self, shares: u32) -> Self {
        let left_out = |length: u32| {
            length - (u64::from(length) * u64::from(shares) / u64::from(SHARES)) as u32
        };
        Self {
            history: left_out(self.history),
            progress: left_out(self.progress),
            decisions: left_out(self.decisions),
            ..self.clone()
        }
    }
}

fn part_name(part: Part) -> Option<&'static str> {
    match part {
        Part::Frame => Some("frame"),
        Part::Task => Some("task"),
        Part::Constraints => Some("constraints"),
        Part::Intent => Some("intent"),
        Part::History => Some("history"),
        Part::ExpectedOutput => Some("expected output"),
        Part::Missing => Some("missing"),
        Part::Memory(_) => None,
    }
}
