-- When a token was last used, and whether it executes trusted documents only.
alter table access_tokens
  add column last_used_at timestamptz(3),
  add column documents_only boolean not null default false;
