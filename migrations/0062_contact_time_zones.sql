-- Name in the IANA time zone database. It outweighs the country of the number for local times of scheduled messages and campaigns.
alter table contacts add column time_zone text;
