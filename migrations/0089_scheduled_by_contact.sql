-- Finds what people had sent to a contact at a time, which is when a bot's hand-over begins.
create index messages_scheduled_by_contact on messages (tenant_id, contact_id, scheduled_at) where scheduled_at is not null;
