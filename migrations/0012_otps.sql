-- One-time passwords: the codes, and what their caps are counted by.

-- One row for each code that was asked for. The code itself is nowhere: `mac` is HMAC-SHA-256 under a key of the server's.
create table otps (
  tenant_id bigint not null references tenants on delete cascade,
  id uuid not null,
  phone text not null,           -- E.164
  phone_key text not null,       -- under which all spellings of the number meet, as in contacts
  purpose text not null,
  template_name text not null,
  language text not null,
  mac bytea not null,
  -- sending: its message is about to be accepted. live: can be verified, until expires_at. verified, exhausted (too many wrong
  -- tries), replaced (by a later one), failed (the network refused its message at once), expired: never verify any more.
  state text not null check (state in ('sending', 'live', 'verified', 'exhausted', 'replaced', 'failed', 'expired')),
  attempts integer not null default 0,
  expiry_minutes integer not null,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  verified_at timestamptz(3),
  contact_id bigint,             -- known, as the message, once that was accepted
  message_id uuid,
  replaced_by uuid,
  idempotency_key text,          -- the caller's
  hour timestamptz(3) not null,  -- which row of otp_hours counts it
  primary key (tenant_id, id),
  constraint otps_attempts_bounded check (attempts between 0 and 5),
  constraint otps_accepted check (state = 'sending' or message_id is not null)
);
-- One live code for a person and a purpose.
create unique index otps_live_key on otps (tenant_id, phone_key, purpose) where state = 'live';
-- The last code. Ids of messages are ordered in time, and people get messages in that order.
create index otps_by_message on otps (tenant_id, phone_key, purpose, message_id);
-- What replaced whom, when that one is taken back.
create index otps_by_replacement on otps (tenant_id, replaced_by) where replaced_by is not null;
-- For the job that tidies up, which works on all tenants.
create index otps_by_expiry on otps (expires_at);
create index otps_to_expire on otps (expires_at) where state = 'live';
create index otps_sending on otps (created_at) where state = 'sending';

-- What was lately done with a number, whatever the purpose: one row, so that its lock decides who comes first. Rolling
-- windows are exact this way, and the lists no longer than their caps.
create table otp_phones (
  tenant_id bigint not null references tenants on delete cascade,
  phone_key text not null,
  sends timestamptz(3)[] not null default '{}',
  resends timestamptz(3)[] not null default '{}',
  verifications timestamptz(3)[] not null default '{}',
  failures timestamptz(3)[] not null default '{}',
  touched_at timestamptz(3) not null,
  primary key (tenant_id, phone_key)
);
create index otp_phones_by_age on otp_phones (touched_at);

-- Codes sent in an hour of the clock by a tenant, to all numbers together.
create table otp_hours (
  tenant_id bigint not null references tenants on delete cascade,
  hour timestamptz(3) not null,
  sends integer not null,
  primary key (tenant_id, hour)
);

-- Those of some instants that lie behind another one.
create function instants_after(instants timestamptz[], start timestamptz) returns timestamptz[] language sql immutable parallel safe
  return array(select instant from unnest(instants) as instant where instant > start order by instant);

-- Some instants without one of those that equal another one.
create function without_one(instants timestamptz[], gone timestamptz) returns timestamptz[] language sql immutable parallel safe
  return case when array_position(instants, gone) is null then instants
    else instants[:array_position(instants, gone) - 1] || instants[array_position(instants, gone) + 1:] end;
