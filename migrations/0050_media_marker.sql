-- The directory of files contains a marker with this id, so that another directory in its place is noticed.
alter table deployment
  add column deployment_id uuid not null default gen_random_uuid(),
  -- When the marker was first written; null before the first start with a directory.
  add column media_marked_at timestamptz(3);
