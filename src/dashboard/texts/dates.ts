import { type Dates, datesIn } from './date-texts.ts';
import { useTexts } from './texts.tsx';

/** Dates and times in the language of the page. */
export function useDates(): Dates {
  const { language } = useTexts();
  return datesIn(language);
}
