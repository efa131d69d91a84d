-- The channels whose secret signed the webhook and that it concerns, as its intake found them: processing applied the body to every channel of
-- the tenant, also to one whose number another tenant owned by then, and to one whose secret had not signed it. Null: stored by an earlier
-- version, or an account's change that is read again.
alter table inbound_webhooks add column channel_ids bigint[];
