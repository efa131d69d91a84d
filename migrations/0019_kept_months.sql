-- As before, and a month can be kept for as long as something in it is still needed: `unless` is a query, given the instants
-- at which the month begins and ends, that says so.
drop procedure drop_month_partitions(text, timestamptz, boolean);
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
      execute format('lock table %I in access exclusive mode', part.relname);
      stays := false;
      if only_empty then execute format('select exists (select from %I)', part.relname) into stays; end if;
      if not stays and unless is not null then execute unless into stays using part.begins, part.ends; end if;
      if not stays then execute format('drop table %I', part.relname); end if;
    exception when lock_not_available then
      raise notice '% is in use and stays until the next time', part.relname;
    end;
  end loop;
end $$;
