-- Privacy: the audit log, what of the log is about which person, and what erasure leaves behind.

-- Who did what that somebody may have to account for. Holds no personal data of contacts: a subject is named by its id.
create table audit_log (
  tenant_id bigint not null references tenants on delete cascade,
  id uuid not null,                 -- UUIDv7: the order of the list
  occurred_at timestamptz(3) not null default clock_timestamp(),
  author jsonb not null,            -- { kind, id, name }: a snapshot
  action text not null,             -- contact.erased, token.created, …
  subject text not null,            -- <resource>:<id>
  details jsonb not null default '{}',
  primary key (tenant_id, id)
);

-- Which person and which conversation an event is about. Kept beside the payload, so that erasure and a contact's timeline find it.
alter table events add column contact_id bigint, add column conversation_id bigint;
update events set
  contact_id = coalesce(payload #>> '{message,contact_id}', payload #>> '{contact,id}', payload #>> '{otp,contact_id}', payload ->> 'contact_id')::bigint,
  conversation_id = (payload #>> '{message,conversation_id}')::bigint;
create index events_by_contact on events (tenant_id, contact_id, id) where contact_id is not null;
create index events_by_conversation on events (tenant_id, conversation_id, id) where conversation_id is not null;

-- Events of an erased contact stay in their places, blanked.
alter table events add column erased_at timestamptz(3);
create index events_to_erase on events (tenant_id, contact_id)
  where contact_id is not null and erased_at is null and type <> all ('{contact.deleted,contact.erased}');

-- Deliveries of events about a contact: erasure cancels those that wait, and blanks what was answered.
alter table webhook_deliveries add column contact_id bigint, add column erased_at timestamptz(3);
update webhook_deliveries d set contact_id = e.contact_id from events e
where e.tenant_id = d.tenant_id and e.id = d.event_id and e.contact_id is not null;
update events a set contact_id = d.contact_id from webhook_deliveries d
where a.type = 'webhook.delivery_attempted' and d.tenant_id = a.tenant_id
  and d.id = (a.payload #>> '{delivery,id}')::uuid and d.contact_id is not null;
create index webhook_deliveries_by_contact on webhook_deliveries (tenant_id, contact_id) where contact_id is not null and erased_at is null;

-- The contact that a key's request was about; null: none, or several. Keys of clients are stored as SHA-256: people put phone
-- numbers into them. A key with an empty fingerprint belonged to an erased contact, and answers NOT_FOUND.
alter table idempotency_keys add column contact_id bigint;
update idempotency_keys k set contact_id = m.contact_id from messages m
where m.tenant_id = k.tenant_id and k.result ->> 'id' ~ '^[0-9a-f]{8}-' and m.id = (k.result ->> 'id')::uuid;
update idempotency_keys set contact_id = (result ->> 'id')::bigint where operation in ('createContact', 'updateContact', 'replaceContact');
create index idempotency_keys_by_contact on idempotency_keys (tenant_id, contact_id) where contact_id is not null;
create index idempotency_keys_without_contact on idempotency_keys (tenant_id) where contact_id is null;

-- Erasures. Holds no personal data once it is complete.
create table erasure_receipts (
  tenant_id bigint not null references tenants on delete cascade,
  id uuid not null,
  contact_id bigint not null,
  subject_digest bytea not null,    -- HMAC of the phone number (or user id, or contact id) under the secret key
  reason text not null check (reason in ('subject_request', 'retention', 'other')),
  author jsonb not null,            -- { kind, id, name }
  requested_at timestamptz(3) not null,
  completed_at timestamptz(3),
  erased jsonb not null default '{}',    -- counts by kind
  retained jsonb not null default '{}',
  signature bytea,                  -- HMAC of the completed receipt under the secret key
  pending bytea,                    -- the identities that are still to be looked for, sealed
  primary key (tenant_id, id),
  constraint erasure_receipts_complete check ((completed_at is null) = (pending is not null))
);
create index erasure_receipts_pending on erasure_receipts (requested_at) where completed_at is null;

-- Keyed digests of the identities of erased people: an opt-out that outlives them, and until expires_at the sign that a late
-- webhook about the time before the erasure is to be dropped.
create table erased_identities (
  tenant_id bigint not null references tenants on delete cascade,
  digest bytea not null,            -- HMAC of the identity under the secret key
  erased_at timestamptz(3) not null,
  opted_out text[] not null default '{}',  -- consent categories that the person had opted out of
  expires_at timestamptz(3),        -- null: an opt-out, kept until the person opts in again
  primary key (tenant_id, digest)
);
create index erased_identities_by_expiry on erased_identities (expires_at) where expires_at is not null;

-- How long messages are kept; null: for ever.
alter table tenants add column keep_messages_days integer check (keep_messages_days > 0);

update idempotency_keys set key = encode(sha256(convert_to(key, 'UTF8')), 'hex')
where operation not in ('otp', 'integration');
update otps set idempotency_key = encode(sha256(convert_to(idempotency_key, 'UTF8')), 'hex') where idempotency_key is not null;
