-- How far each durable reader of the event log has come (outgoing webhooks, bots). Rows of the deployment, not of a tenant:
-- a reader takes its part of the log for all tenants in one statement, in the transaction that moves its place.
create table log_readers (
  name text primary key,
  xid xid8 not null,
  seq bigint not null,
  moved_at timestamptz(3) not null default now()
);
