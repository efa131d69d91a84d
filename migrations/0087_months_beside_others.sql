-- Makes the monthly partitions of a table, from last month to `ahead` months from now.
-- To make one locks the whole table. The lock is waited for briefly only: behind a wait for somebody who reads the table for long, a backup
-- above all, everybody else would wait too. A month whose table is in use is left to the next run, months before it is needed.
-- Rows of a month that has no partition are in the default one: they came while nobody made partitions, or from a process whose clock was
-- ahead. They move into the month. More than can be moved within a second or so stay where they are, and later months are made all the same.
create or replace procedure ensure_month_partitions(parent text, ahead integer) language plpgsql
set lock_timeout = '200ms'
as $$
declare
  spare text := parent || '_default';
  storage text := (select ' with (' || array_to_string(reloptions, ', ') || ')' from pg_class where oid = to_regclass(spare) and reloptions is not null);
  key text := (select quote_ident(a.attname) from pg_partitioned_table p
    join pg_attribute a on a.attrelid = p.partrelid and a.attnum = p.partattrs[0] where p.partrelid = to_regclass(parent));
  first_of_month timestamptz;
  name text;
  bounds text;
  in_month text;
  strays integer;
begin
  for offset_months in -1 .. ahead loop
    first_of_month := (date_trunc('month', now() at time zone 'UTC') + make_interval(months => offset_months)) at time zone 'UTC';
    name := format('%s_%s', parent, to_char(first_of_month at time zone 'UTC', 'YYYYMM'));
    continue when to_regclass(name) is not null;
    bounds := format('from (%L) to (%L)', uuid_at(first_of_month), uuid_at(first_of_month + interval '1 month'));
    in_month := format('%1$s >= %2$L and %1$s < %3$L', key, uuid_at(first_of_month), uuid_at(first_of_month + interval '1 month'));
    begin
      execute format('lock table only %I, %I in access exclusive mode', parent, spare);
      -- Another process may have made it meanwhile.
      continue when to_regclass(name) is not null;
      execute format('select count(*) from (select from %I where %s limit 10001) s', spare, in_month) into strays;
      if strays > 10000 then
        raise notice 'the rows of % stay in %', name, spare;
      elsif strays > 0 then
        -- A table of its own first: as a partition it would run the triggers of new rows.
        execute format('create table %I (like %I including all)%s', name, parent, storage);
        execute format('with moved as (delete from %I where %s returning *) insert into %I select * from moved', spare, in_month, name);
        execute format('alter table %I attach partition %I for values %s', parent, name, bounds);
      else
        execute format('create table %I partition of %I for values %s%s', name, parent, bounds, storage);
      end if;
    exception when lock_not_available then
      raise notice '% is in use: % is made the next time', parent, name;
    end;
  end loop;
end $$;
