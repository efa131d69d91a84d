-- One row for the whole database, which belongs to no tenant.
create table deployment (
  id integer primary key default 1 check (id = 1),
  -- 32 random bytes, sealed under PARLEY_SECRET_KEY: the proof that a process has the key of this database, and the key of
  -- digests that outlive a change of PARLEY_SECRET_KEY. Null until the first process with a key starts.
  digest_key_sealed bytea,
  -- Written by the readiness probe. Not indexed, so that the update is HOT and the table stays one page.
  probed_at timestamptz(3) not null default now()
);

insert into deployment default values;
