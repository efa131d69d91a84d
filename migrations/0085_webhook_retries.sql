-- A webhook that failed is tried again some time after its last attempt, not after its arrival, and is given up for its own failures alone:
-- a fault of the database counts for the pause, and lost what waited for longer than ten attempts.
alter table waiting_webhooks
  add column failures integer not null default 0,                          -- attempts that failed for a reason of its own
  add column retry_at timestamptz(3) not null default '-infinity';         -- of a failed one; what an earlier version counted is due at once
-- The failed ones in the order in which they are due: one that fails again and again does not keep others from their turn. Those that have
-- not been tried, which are nearly all, are not in it.
create index waiting_webhooks_failed on waiting_webhooks (tenant_id, retry_at, id) where attempts > 0;
-- Webhooks are found by id, and fresh ones claimed by it; see 0072.
alter table waiting_webhooks drop constraint waiting_webhooks_pkey, add primary key (tenant_id, id);
