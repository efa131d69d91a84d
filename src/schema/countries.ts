import { COUNTRIES, type Country } from '../platform/countries.ts';
import { builder } from './builder.ts';

export const CountryType = builder.objectRef<Country>('Country').implement({
  description: 'A country in ISO 3166-1, and Kosovo with its customary codes (983, XK).',
  fields: t => ({
    numericCode: t.exposeInt('id', { description: 'Numeric code.' }),
    alpha2: t.exposeString('alpha2', { description: 'Two-letter code.' }),
    alpha3: t.exposeString('alpha3', { description: 'Three-letter code.' }),
    name: t.exposeString('name', { description: 'English name of the country.' }),
  }),
});

const CODE = 'by its code of ISO 3166-1: `DE`, `DEU` or `276`.';

export const CountryFilter = builder.inputType('CountryFilter', {
  description: 'Conditions for a country; all of them must hold.',
  fields: t => ({
    eq: t.string({ description: `This country, ${CODE}` }),
    ne: t.string({ description: `Another country than this one, or none, ${CODE}` }),
    in: t.stringList({ description: `One of these countries, each ${CODE}` }),
    notIn: t.stringList({ description: `None of these countries, each ${CODE}` }),
    isNull: t.boolean({ description: 'True for rows without a country, false for rows with one.' }),
  }),
});

builder.queryField('countries', t =>
  t.field({
    type: [CountryType],
    description: 'Lists all countries, sorted by name.',
    authScopes: { token: true },
    extensions: { points: 0 },
    resolve: () => [...COUNTRIES],
  }),
);
