//! What waits for an agent, and what it holds.

use spine_protocol::AgentName;

use super::asker::Asker;
use crate::limits::MCP_ROWS_MAX;
use crate::operations::deliveries;
use crate::problem::Problem;
use crate::wire::delivery::{DeliveryDocument, DeliveryListQuery, OrderWord, StateWord};

/// Its open deliveries, the oldest first.
pub async fn open(asker: &Asker, agent: AgentName) -> Result<Vec<DeliveryDocument>, Problem> {
    use StateWord::{Accepted, Leased, Pending};
    let query = DeliveryListQuery {
        state: vec![Leased, Accepted, Pending],
        agent: Some(agent),
        since: None,
        until: None,
        envelope_id: None,
        root: None,
        order: OrderWord::Oldest,
        limit: Some(MCP_ROWS_MAX),
        cursor: None,
    };
    Ok(deliveries::list(asker.call((), query, ())).await?.into_value().deliveries)
}
