-- The horizon of the log (src/events/horizon.sql.ts) is a place, no longer the oldest transaction of the whole cluster: an endpoint
-- listens since a place. Its writer gives it, from a look of its own before the transaction.
alter table webhook_endpoints add column listens_since_seq bigint not null default 0;
alter table webhook_endpoints alter column listens_since drop default, alter column listens_since_seq drop default;

-- The place up to which events were removed. Named for what it is: the horizon is the other end of the log.
alter table event_horizon rename to event_retention;

-- Which database wrote the log, so that a copy of it and an older state are noticed (src/events/origin.ts). One row for the whole
-- database, which belongs to no tenant. Every update sets written_by.
create table log_origin (
  is_only boolean primary key default true check (is_only),
  -- The transaction that wrote this row: a row that dump and restore made has another xmin. Null until the first process starts.
  written_by xid8,
  system_identifier bigint,
  database_oid bigint,
  server_version integer,            -- the major version: pg_upgrade changes the system identifier as well
  timeline integer,
  seen_at timestamptz(3),            -- when a process last found everything in order
  -- Stands in every cursor of the log. Random after a restore: a cursor from before is of events that may be gone.
  generation integer not null default 0,
  fault text,                        -- what a running process found wrong; stays until the log is restored
  -- No message is handed to the network while it stands: part of the outbox of a restored database was sent already.
  outbox_held_at timestamptz(3)
);
insert into log_origin default values;
