//! Joins: once, in time, of everything there is.

use spine_engine::delivery::{Join, Made, Publication};
use spine_protocol::WorkspaceName;
use spine_store::testing::{ModelStore, block_on};
use spine_store::{Collection, Command, DeliveryState, Record, RecordReads, UnixMs};

use super::{Rule, Watch};

impl Watch {
    pub(super) fn record_put(&mut self, command: &Command, record: &Record, now: UnixMs) {
        if record.key.collection != Collection::Publication {
            return;
        }
        let Ok(publication) = serde_json::from_slice::<Publication>(&record.value) else {
            return self.fail(Rule::JoinComplete, "a publication cannot be read".to_owned());
        };
        let join = publication.join.as_ref();
        if publication.is_to_be_joined() {
            self.to_be_joined.insert(publication.id.to_string());
        } else {
            self.to_be_joined.remove(&publication.id.to_string());
        }
        let Some((join, made)) = join.and_then(|join| Some((join, join.made.as_ref()?))) else {
            return;
        };
        match self.joined.insert(publication.id.to_string(), made.delivery) {
            None => self.check_join(&command.workspace, &publication, join, made, now),
            // A part that ends later has it looked at again.
            Some(before) => self.check(before == made.delivery, Rule::JoinOnce, || {
                format!("{} was joined twice", publication.id)
            }),
        }
    }

    fn check_join(
        &mut self,
        workspace: &WorkspaceName,
        publication: &Publication,
        join: &Join,
        made: &Made,
        now: UnixMs,
    ) {
        let ids = publication.deliveries.iter();
        let parts = ids.filter_map(|id| self.rows.get(&(workspace.clone(), *id)));
        let states: Vec<DeliveryState> = parts.map(|seen| seen.delivery.state()).collect();
        let done = states.iter().filter(|state| **state == DeliveryState::Done).count();
        let waiting = states.iter().any(|s| s.is_open() || *s == DeliveryState::Parked);
        let in_it = made.done as usize;
        let enough = made.done >= join.need
            || (!waiting && in_it == done)
            || join.until.is_some_and(|until| until <= now);
        let sent = self.rows.contains_key(&(workspace.clone(), made.delivery));
        let holds = enough && in_it <= done && sent && states.len() == publication.deliveries.len();
        self.check(holds, Rule::JoinComplete, || {
            format!("{} joined {in_it} of {states:?}, needs {}", publication.id, join.need)
        });
    }

    pub(super) fn read_publications(&mut self, workspace: &WorkspaceName, model: &ModelStore) {
        for publication in publications(workspace, model) {
            match publication.join.map(|join| join.made) {
                Some(Some(made)) => {
                    self.joined.insert(publication.id.to_string(), made.delivery);
                }
                Some(None) => {
                    self.to_be_joined.insert(publication.id.to_string());
                }
                None => {}
            }
        }
    }
}

pub(super) fn publications(workspace: &WorkspaceName, model: &ModelStore) -> Vec<Publication> {
    let listed =
        block_on(model.list_records(workspace, Collection::Publication, String::new(), None, 1000));
    let records = listed.map(|page| page.items).unwrap_or_default();
    records.iter().filter_map(|record| serde_json::from_slice(&record.value).ok()).collect()
}
