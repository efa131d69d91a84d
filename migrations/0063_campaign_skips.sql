-- Skipped recipients of a campaign by reason. `state` is in the predicate of other indexes already: no update becomes wider by this one.
create index campaign_recipients_skipped on campaign_recipients (tenant_id, campaign_id, reason) where state = 2;
