-- Opt-out and opt-in words by language. The lists of the account are for all languages; a language can be changed alone.
-- Accounts that exist keep their lists as they are.

alter table tenants add column opt_words_by_language jsonb not null default '{}'
  check (jsonb_typeof(opt_words_by_language) = 'object');

alter table tenants
  alter column opt_out_words set default '{stop,stopall,unsubscribe,cancel,end,quit,"stop promotions"}',
  alter column opt_in_words set default '{start,unstop,subscribe,"start promotions"}',
  alter column opt_words_by_language set default '{
    "de": {"opt_out_words": ["stopp", "abmelden"], "opt_in_words": ["anmelden"]},
    "es": {"opt_out_words": ["baja", "alto"], "opt_in_words": ["alta"]},
    "fr": {"opt_out_words": ["arrêt"], "opt_in_words": ["début"]},
    "pt": {"opt_out_words": ["parar", "sair", "cancelar"], "opt_in_words": ["voltar"]}
  }';
