-- Up to which place events have been removed because their time was over: a subscriber that was last there cannot be given what
-- followed, and is told so. One row, of the deployment.
create table event_horizon (
  is_only boolean primary key default true check (is_only),
  xid xid8 not null,
  seq bigint not null,
  -- Events from before this instant are gone.
  instant timestamptz(3) not null
);
insert into event_horizon (xid, seq, instant) values ('0', 0, '-infinity');

-- Drops the monthly partitions of a table that lie before an instant: all of them, or, where rows are deleted one by one, those
-- that are empty by now. A month can be kept for as long as something in it is still needed: `unless` is a query, given the instants
-- at which the month begins and ends, that says so. To drop one locks the whole table, which everybody else locks before its months:
-- so it is locked first, and only for what there is to drop. Not for long, and not at all while somebody else holds it.
create procedure drop_month_partitions(parent text, before timestamptz, only_empty boolean, unless text) language plpgsql as $$
declare
  part record;
  stays boolean;
begin
  perform set_config('lock_timeout', '200ms', true);
  for part in
    select c.relname, to_date(right(c.relname, 6), 'YYYYMM')::timestamp at time zone 'UTC' as begins,
      (to_date(right(c.relname, 6), 'YYYYMM') + interval '1 month') at time zone 'UTC' as ends
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = parent::regclass and c.relname ~ ('^' || parent || '_[0-9]{6}$')
      and (to_date(right(c.relname, 6), 'YYYYMM') + interval '1 month') at time zone 'UTC' <= before
    order by c.relname
  loop
    begin
      -- Looked at before anything is locked, and once more when nobody can write any more.
      for look in 1 .. 2 loop
        if look = 2 then execute format('lock table only %I in access exclusive mode', parent); end if;
        stays := false;
        if only_empty then execute format('select exists (select from %I)', part.relname) into stays; end if;
        if not stays and unless is not null then execute unless into stays using part.begins, part.ends; end if;
        exit when stays;
      end loop;
      if not stays then execute format('drop table %I', part.relname); end if;
    exception when lock_not_available then
      raise notice '% is in use and stays until the next time', part.relname;
    end;
  end loop;
end $$;
