-- The event log: every change appends its event, with its finished payload, in the transaction of the change.
--
-- Rows commit out of order. A reader therefore reads in the order (xid, seq) and only below the oldest transaction that is
-- still running, pg_snapshot_xmin(pg_current_snapshot()): nothing can appear behind a cursor any more.
create sequence events_seq as bigint cache 1;
create table events (
  tenant_id bigint not null,
  id uuid not null,
  xid xid8 not null default pg_current_xact_id(),
  seq bigint not null default nextval('events_seq'),
  type text not null,
  payload jsonb not null,
  occurred_at timestamptz(3) not null default clock_timestamp(),
  primary key (tenant_id, id)
) partition by range (id);
create table events_default partition of events default;
create index events_in_order on events (xid, seq);
create index events_of_tenant_in_order on events (tenant_id, xid, seq);
call ensure_month_partitions('events', 3);
