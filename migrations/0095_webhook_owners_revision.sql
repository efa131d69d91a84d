-- Changes whenever a channel or a number gets or loses something by which webhooks find their owners. The statement that stores webhooks compares
-- it with that of the owners it was given, and their digest (migration 0078: half of the time of a webhook that is stored alone) only if
-- they differ. Not a counter: a restored database must not reach the revision of a process that knows later owners.
create table webhook_owners_revision (
  is_single boolean primary key default true check (is_single),
  revision uuid not null
);
insert into webhook_owners_revision (revision) values (gen_random_uuid());

create function revise_webhook_owners() returns trigger language plpgsql as $$
begin
  update webhook_owners_revision set revision = gen_random_uuid();
  return null;
end $$;

-- Deferred: the row that all of them write is locked while a transaction commits, and not while it waits for other locks.
create constraint trigger webhook_owners_added after insert or delete on channels deferrable initially deferred for each row
  execute function revise_webhook_owners();
create constraint trigger webhook_owners_changed after update on channels deferrable initially deferred for each row
  when ((old.tenant_id, old.id, old.phone_number_id, old.waba_id, old.portfolio_id, old.display_phone_number, old.app_secret_sealed, old.status)
    is distinct from
    (new.tenant_id, new.id, new.phone_number_id, new.waba_id, new.portfolio_id, new.display_phone_number, new.app_secret_sealed, new.status))
  execute function revise_webhook_owners();
create constraint trigger webhook_numbers_changed after insert or update or delete on channel_numbers deferrable initially deferred
  for each row execute function revise_webhook_owners();
