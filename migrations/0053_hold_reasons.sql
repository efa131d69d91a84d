-- Why an attempt was moved to a later time, for people: the pair limit, the network's error, a response that was lost. It stands until
-- that time.
alter table outbox add column hold_reason text;

-- As before, with the reasons. The one without stays for processes of the version before.
create function postpone_outbox(tenants bigint[], messages_ uuid[], numbers integer[], after_ms double precision[], attempted boolean[], in_doubt boolean[],
  reasons text[])
returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  update outbox q set
    next_attempt_at = case when q.next_attempt_at is not null then clock_timestamp() + p.after_ms * interval '1 ms' end,
    attempts = q.attempts - case when p.attempted then 0 else 1 end,
    dispatched_at = case when p.in_doubt then q.dispatched_at end,
    hold_reason = p.reason
  from (
    select u.* from unnest(tenants, messages_, numbers, after_ms, attempted, in_doubt, reasons)
      u (tenant_id, message_id, number, after_ms, attempted, in_doubt, reason)
    join outbox o on o.tenant_id = u.tenant_id and o.message_id = u.message_id
    order by o.position
  ) p
  where q.tenant_id = p.tenant_id and q.message_id = p.message_id and q.attempts = p.number;
end $$;
