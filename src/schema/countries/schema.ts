import { builder } from '../builder.ts';
import { COUNTRIES, type Country } from './country.ts';

export const CountryType = builder.objectRef<Country>('Country').implement({
  description: 'A country in ISO 3166-1, and Kosovo with its customary codes (983, XK).',
  fields: t => ({
    id: t.exposeInt('id', { description: 'Numeric code, as `countryId` takes it.' }),
    alpha2: t.exposeString('alpha2', { description: 'Two-letter code.' }),
    alpha3: t.exposeString('alpha3', { description: 'Three-letter code.' }),
    name: t.exposeString('name', { description: 'English name of the country.' }),
    code: t.exposeString('alpha2', {
      description: 'Two-letter code; same as `alpha2`.',
      deprecationReason: 'Use `alpha2`.',
    }),
  }),
});

builder.queryField('countries', t =>
  t.field({
    type: [CountryType],
    description: 'Lists all countries, sorted by name.',
    authScopes: { token: true },
    resolve: () => [...COUNTRIES],
  }),
);
