import { useMemo } from 'react';
import { useTexts } from './texts.tsx';

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** Seconds as people say them, in at most two units: 2 h 5 min. */
export function useDurations(): (seconds: number) => string {
  const { language } = useTexts();
  return useMemo(() => {
    const formats = UNITS.map(
      ([unit]) => new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'short' }),
    );
    return seconds => {
      const first = UNITS.findIndex(([, size]) => seconds >= size);
      if (first === -1) return `< ${formats[3]?.format(1) ?? ''}`;
      const whole = Math.floor(seconds / (UNITS[first]?.[1] ?? 1));
      const rest = seconds % (UNITS[first]?.[1] ?? 1);
      const next = UNITS[first + 1];
      const second = next ? Math.floor(rest / next[1]) : 0;
      const head = formats[first]?.format(whole) ?? '';
      return second > 0 ? `${head} ${formats[first + 1]?.format(second) ?? ''}` : head;
    };
  }, [language]);
}
