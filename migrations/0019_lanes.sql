-- Lanes: who drains which part of a queue, and until when. A row is written when a lane is taken, renewed or released, never
-- by the transaction that puts work into the queue: accepting a message must not wait for a lock on its lane.
create table lanes (
  tenant_id bigint not null,           -- 0: a lane of the whole deployment (a shard of webhook deliveries)
  queue text not null,
  key text not null,
  epoch bigint not null,               -- grows with every take-over, also after the row was deleted: the fence of late writes
  holder uuid,                         -- a process of lane_processes; null: free, or released by an operator
  lease_until timestamptz(3),          -- nobody takes the lane before; null: released by its holder
  due_at timestamptz(3),               -- the lane rests until then: circuit breaker, pause after a failure
  taken_at timestamptz(3) not null,
  failures integer not null default 0, -- turns in a row that ended with an error
  error text,                          -- the last error, kept until a turn ends well
  failed_at timestamptz(3),
  primary key (tenant_id, queue, key)
) with (fillfactor = 50);
-- One sequence for all lanes, so that no epoch ever comes twice.
create sequence lane_epochs;

-- Processes that drain lanes, as far as they were seen lately: lanes move from busy processes to idle ones.
create table lane_processes (
  id uuid primary key,
  name text not null,                  -- host and process id, for people
  places jsonb not null,               -- lanes that the process may drain at a time, by queue
  seen_at timestamptz(3) not null
) with (fillfactor = 50);

-- The sweep asks for each integration whether something is due.
drop index integration_deliveries_due;
create index integration_deliveries_due on integration_deliveries (tenant_id, integration_id, due_at) where due_at is not null;

-- The job queue that lanes used before.
drop schema if exists pgboss cascade;
