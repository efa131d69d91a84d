const UNITS = ['B', 'kB', 'MB', 'GB'];

/** 1,234,567 → 1.2 MB */
export function sizeText(bytes: number): string {
  const exponent = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1_000 ** exponent;
  return `${value < 10 && exponent > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[exponent]}`;
}
