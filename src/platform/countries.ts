import { createRequire } from 'node:module';

export interface Country {
  /** ISO 3166-1 numeric. */
  readonly id: number;
  /** ISO 3166-1 alpha-2. */
  readonly alpha2: string;
  /** ISO 3166-1 alpha-3. */
  readonly alpha3: string;
  /** English name. */
  readonly name: string;
}

// The package's entry point loads the names of every language; its table of codes is all we need, Node knows the names.
const codes: readonly (readonly [alpha2: string, alpha3: string, numeric: string])[] = createRequire(import.meta.url)(
  'i18n-iso-countries/codes.json',
);
const names = new Intl.DisplayNames(['en'], { type: 'region' });

/** All countries, by name as people sort it (Åland before Albania). */
export const COUNTRIES: readonly Country[] = codes
  .map(([alpha2, alpha3, numeric]) => ({ id: Number(numeric), alpha2, alpha3, name: names.of(alpha2) ?? alpha2 }))
  .sort((a, b) => a.name.localeCompare(b.name, 'en'));

const byId: ReadonlyMap<number, Country> = new Map(COUNTRIES.map(country => [country.id, country]));

/** @returns undefined when no country has this number */
export const countryOf = (id: number): Country | undefined => byId.get(id);

const byCode: ReadonlyMap<string, Country> = new Map(
  COUNTRIES.flatMap(country => [
    [country.alpha2, country],
    [country.alpha3, country],
  ]),
);

/** Reads a code of ISO 3166-1: `DE`, `DEU` or `276`, in any case. @returns undefined for anything else */
export const countryByCode = (text: string): Country | undefined => {
  const code = text.trim().toUpperCase();
  return /^\d{1,3}$/.test(code) ? byId.get(Number(code)) : byCode.get(code);
};
