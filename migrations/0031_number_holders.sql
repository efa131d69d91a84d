-- Who has which of the numbers (in digits, and with a plus) as a current identity, the network's word first: beside a contact's phone also
-- second numbers, which merges leave, and numbers that the network showed. A phone that the network took from the contact does not count.
-- Volatile, so that a statement that has waited for the lock on tenant_usage sees what was committed meanwhile. The lateral join and
-- the settings keep the plan independent of statistics.
create function number_holders(tenant bigint, numbers text[]) returns table (number text, contact_id bigint)
language plpgsql volatile rows 1
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
begin
  return query
    select n.number, h.contact_id
    from unnest(numbers) as n (number)
    cross join lateral (
      select i.contact_id, i.kind, i.id from contact_identities i
      where i.tenant_id = tenant and i.value = n.number and i.kind in ('phone', 'wa_id') and i.ended_at is null
        and (i.kind = 'wa_id' or not exists (
          select from contact_identities l
          where l.tenant_id = tenant and l.value = ltrim(n.number, '+') and l.kind = 'wa_id' and l.contact_id = i.contact_id
            and l.ended_at is not null))
      offset 0
    ) h
    order by h.kind desc, h.id;
end $$;

-- A change of the phone ends the former phone alone: second numbers stay.
create or replace function note_changed_phone() returns trigger language plpgsql as $$
begin
  update contact_identities set ended_at = clock_timestamp()
  where tenant_id = new.tenant_id and contact_id = new.id and kind = 'phone' and value = old.phone and ended_at is null;
  if new.phone is not null then
    update contact_identities set ended_at = clock_timestamp()
    where tenant_id = new.tenant_id and contact_id = new.id and kind = 'phone' and value = new.phone and ended_at is null;
    insert into contact_identities (tenant_id, contact_id, kind, value, started_at)
    values (new.tenant_id, new.id, 'phone', new.phone, clock_timestamp());
  end if;
  return null;
end $$;
