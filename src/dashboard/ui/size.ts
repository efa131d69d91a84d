import { localeOf } from '../texts/date-texts.ts';

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;

/** 1,234,567 → 1.2 MB, in the language of the page. */
export function sizeText(bytes: number, language: string): string {
  const exponent = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1_000 ** exponent;
  return new Intl.NumberFormat(localeOf(language), {
    style: 'unit',
    unit: UNITS[exponent] ?? 'byte',
    maximumFractionDigits: value < 10 && exponent > 0 ? 1 : 0,
  }).format(value);
}
