-- Whom payloads of shops tell of: phone numbers and e-mail addresses as they stand where the mappings look for them, and the
-- contacts that were made of them. When a contact is deleted, so are the bytes of every payload that tells of the person.
create table integration_delivery_people (
  tenant_id bigint not null,
  delivery_id uuid not null,
  person text not null,                 -- phone:<key of a phone number>, email:<address in lower case> or contact:<id>
  primary key (tenant_id, delivery_id, person),
  foreign key (tenant_id, delivery_id) references integration_deliveries (tenant_id, id) on delete cascade
);
create index integration_delivery_people_by_person on integration_delivery_people (tenant_id, person);

alter table integration_deliveries
  alter body drop not null,
  add erased_at timestamptz(3),
  add constraint integration_deliveries_erased check ((body is null) = (erased_at is not null));
