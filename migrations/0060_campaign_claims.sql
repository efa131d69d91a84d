-- Recipients whose message is being accepted: a few hundred at a time, looked for at each step of a campaign, also while a million others
-- wait for their sending hours.
create index campaign_recipients_claimed on campaign_recipients (tenant_id, campaign_id, contact_id) where state = 1 and message_id is not null;
