-- What the network answers when it is asked for the health of a number.
alter table channel_health
  add column can_send text,                      -- AVAILABLE, LIMITED or BLOCKED, in the network's word
  add column checked_at timestamptz(3);          -- the last time that it was asked
