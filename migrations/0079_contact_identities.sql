-- The ids by which the network knows people are in contact_identities; contacts had a copy of the present ones. A campaign to new people changed
-- the copy of each twice, and an update that finds no room in its page writes to all nineteen indexes of the table: 60 to 85 µs.
alter table contacts drop column wa_id, drop column network_user_id;
