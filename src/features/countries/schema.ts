import { builder } from '../../builder.ts';
import { COUNTRIES, type Country } from './country.ts';

export const CountryType = builder.objectRef<Country>('Country').implement({
  description: 'A country by ISO 3166-1, and Kosovo by the codes in common use (983, XK).',
  fields: t => ({
    id: t.exposeInt('id', { description: 'The numeric code: what `countryId` takes.' }),
    alpha2: t.exposeString('alpha2', { description: 'The two-letter code.' }),
    alpha3: t.exposeString('alpha3', { description: 'The three-letter code.' }),
    name: t.exposeString('name', { description: 'The English name.' }),
    code: t.exposeString('alpha2', { description: 'The two-letter code.', deprecationReason: 'Use `alpha2`.' }),
  }),
});

builder.queryField('countries', t =>
  t.field({
    type: [CountryType],
    description: 'All countries, by name.',
    authScopes: { token: true },
    resolve: () => [...COUNTRIES],
  }),
);
