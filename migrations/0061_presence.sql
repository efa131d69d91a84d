-- The conversation that a session of a staff member has open, until it is silent for half a minute. Unlogged, because after a crash
-- nobody looks at anything.
create unlogged table staff_presence (
  tenant_id bigint not null,
  staff_id bigint not null,
  session_id bigint not null,
  is_away boolean not null,
  conversation_id bigint,               -- null: none
  typing_until timestamptz(3),          -- null: not typing
  expires_at timestamptz(3) not null,
  primary key (tenant_id, staff_id, session_id),
  -- Ends with the session, which ends with the staff member.
  foreign key (tenant_id, session_id) references staff_sessions (tenant_id, id) on delete cascade
) with (fillfactor = 50);               -- each row is updated every ten seconds, in place
create index staff_presence_by_conversation on staff_presence (tenant_id, conversation_id) where conversation_id is not null;
create index staff_presence_by_session on staff_presence (tenant_id, session_id);
