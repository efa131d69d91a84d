-- A search folds case and diacritics on both sides: "jose" finds José, "STRASSE" finds Straße. The body is parsed here, so that
-- the names in it do not depend on the search_path of a dump, an index build or autovacuum. unaccent() is only stable, because
-- its rules are a file; after a change of that file the indexes below are built anew.
create extension if not exists unaccent;
create function search_fold(value text) returns text immutable strict parallel safe
  return lower(unaccent('unaccent'::regdictionary, value));
-- What a folded text is like if it contains a word. Escaped after folding: unaccent() makes % of a full-width percent sign.
create function search_pattern(word text) returns text immutable strict parallel safe
  return '%' || regexp_replace(search_fold(word), '([\\%_])', '\\\1', 'g') || '%';

alter table contacts drop column search_text;
alter table contacts add column search_text text not null generated always as (
  search_fold(firstname || ' ' || lastname || ' ' || coalesce(email, '') || ' ' || coalesce(phone, '') || ' ' || coalesce(company, ''))
) stored;
create index contacts_search on contacts using gin (tenant_id, search_text gin_trgm_ops);

alter table templates drop column search_text;
alter table templates add column search_text text not null generated always as (
  search_fold(name || ' ' || coalesce(jsonb_path_query_first(components, '$[*] ? (@.type like_regex "^body$" flag "i").text') #>> '{}', ''))
) stored;
create index templates_search on templates using gin (tenant_id, search_text gin_trgm_ops);

drop index messages_search;
create index messages_search on messages using gin (tenant_id, search_fold(body) gin_trgm_ops) where body is not null;

-- The country whose national numbers are read in searches; ISO 3166-1 alpha-2.
alter table tenants add column default_country text check (default_country ~ '^[A-Z]{2}$');
