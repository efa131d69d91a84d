-- Finds what people had sent to a contact at a time, which is when a bot's hand-over begins. It does not begin with the account: ids of
-- contacts are unique, and the primary key has to stay the youngest index that does (0072).
create index messages_scheduled_by_contact on messages (contact_id, scheduled_at) where scheduled_at is not null;
