//! What must hold when everybody is well again and time has run on.

use spine_store::DeliveryState;
use spine_store::testing::ModelStore;

use super::joins::publications;
use super::{Rule, Watch, all_rows, workspaces};

impl Watch {
    /// Every promise is kept on disk, and the disk is as it was seen.
    pub fn look_around(&mut self, model: &ModelStore) {
        let mut found = 0;
        for workspace in workspaces(model) {
            for row in all_rows(&workspace.name, model) {
                let key = (workspace.name.clone(), row.id);
                let same = self.rows.get(&key).is_some_and(|seen| seen.delivery.to_row() == row);
                self.check(same, Rule::NothingLost, || format!("{key:?} changed unseen"));
                found += 1;
            }
        }
        let all = found == self.rows.len();
        self.check(all, Rule::NothingLost, || format!("{found} are left"));
        let missing = self.promised.iter().find(|promise| !self.rows.contains_key(promise));
        let missing = missing.cloned();
        self.check(missing.is_none(), Rule::NothingLost, || format!("{missing:?} is gone"));
    }

    /// Whether anything is still open, or any join not made.
    pub fn unsettled(&self, model: &ModelStore) -> Vec<String> {
        let open = |state: DeliveryState| state.is_open() || state == DeliveryState::Parked;
        let rows = self.rows.values().map(|seen| &seen.delivery);
        let rows = rows.filter(|delivery| open(delivery.state()));
        let mut unsettled: Vec<String> =
            rows.map(|d| format!("{} is {:?}", d.row.id, d.state())).collect();
        for workspace in workspaces(model) {
            for publication in publications(&workspace.name, model) {
                if publication.is_to_be_joined() {
                    unsettled.push(format!("{} is not joined", publication.id));
                }
            }
        }
        unsettled
    }

    /// When all is over.
    pub fn ended(&mut self, model: &ModelStore) {
        self.look_around(model);
        let unsettled = self.unsettled(model);
        self.check(unsettled.is_empty(), Rule::EverythingSettles, || unsettled.join(", "));
    }
}
