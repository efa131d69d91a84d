-- The event log: every change appends its event, with its finished payload, in the transaction of the change.
--
-- Rows commit out of order. A reader therefore reads in the order (xid, seq) and only below the oldest transaction that is
-- still running, pg_snapshot_xmin(pg_current_snapshot()): nothing can appear behind a cursor any more.
create sequence events_seq as bigint cache 1;
create table events (
  tenant_id bigint not null,
  id uuid not null,
  -- A transaction that began early may write late: it waits for the lock of one that began after it, and tells what follows
  -- from what that one told. By their transactions alone the log would have "read" before "sent". The place of an event is
  -- therefore its transaction or the last one completed by then, whichever is later: what was committed before an event is
  -- written stands before it. What is not committed yet still stands at or behind the oldest running transaction, so that a
  -- reader below it skips nothing.
  xid xid8 not null default greatest(
    pg_current_xact_id(), ((pg_snapshot_xmax(pg_current_snapshot())::text::numeric - 1)::text)::xid8),
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
