-- What a plan allows beside contacts, and what a tenant uses of it in a month.

alter table plans
  add column max_conversations bigint check (max_conversations >= 0), -- a month; null: unlimited
  add column max_messages bigint check (max_messages >= 0),           -- a month; null: unlimited
  add column max_staff bigint check (max_staff >= 0),
  add column features text[] not null default '{media,templates,interactive,otp,bots,webhooks,integrations}';

update plans set max_conversations = 1000, max_messages = 10000, max_staff = 3,
  features = '{media,templates,interactive,otp,webhooks}' where name = 'starter';
update plans set max_conversations = 50000, max_messages = 500000, max_staff = 50 where name = 'standard';

alter table tenants add column plan_expires_at timestamptz(3); -- null: never

-- Counted as it happens, never by scanning. One row would make all sends of a tenant wait for each other's commit, so a month
-- has several: each counts on its own against a part of the plan that was granted to it, and the grants of all together never
-- exceed the plan (features/usage/share.ts hands them out). The checks are therefore the limit, decided by the database.
create table monthly_usage (
  tenant_id bigint not null references tenants on delete cascade,
  month date not null,               -- its first day, UTC
  shard smallint not null,
  messages bigint not null default 0 check (messages >= 0),             -- accepted from the tenant; what people write is free
  messages_granted bigint,                                              -- null: unlimited
  conversations bigint not null default 0 check (conversations >= 0),   -- with at least one message in this month, of either side
  conversations_granted bigint,
  primary key (tenant_id, month, shard),
  constraint messages_within_plan check (messages <= messages_granted),
  constraint conversations_within_plan check (conversations <= conversations_granted)
);

-- The last month in which a conversation was counted. It only moves forward: clocks differ at the turn of a month.
alter table conversations add column counted_month date;

-- What may not stand in a message, such as a one-time code: the network's object as it is really sent, sealed under
-- PARLEY_SECRET_KEY. It leaves with its row as soon as the message is settled.
alter table outbox add column sealed bytea;
