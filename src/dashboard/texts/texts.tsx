import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useState } from 'react';
import english from './en.json';
import { type Fault, type FaultTexts, faultText } from './faults.ts';

export type TextKey = keyof typeof english;
export const isTextKey = (key: string): key is TextKey => key in english;
export type Texts = Readonly<Record<TextKey, string>>;
type Values = Readonly<Record<string, string | number>>;

interface Loaded {
  readonly texts: Partial<Texts>;
  /** Texts of the API's errors; undefined for English, the language of the API itself. */
  readonly faults?: FaultTexts;
}

interface LanguageEntry {
  readonly name: string;
  readonly direction: 'ltr' | 'rtl';
  load(): Promise<Loaded>;
}

/** Languages by code: their own name, direction, and texts, which are loaded when they are chosen. */
export const LANGUAGES = {
  en: { name: 'English', direction: 'ltr', load: async (): Promise<Loaded> => ({ texts: english }) },
  de: {
    name: 'Deutsch',
    direction: 'ltr',
    async load(): Promise<Loaded> {
      const [texts, faults] = await Promise.all([import('./de.json'), import('./faults/de.json')]);
      return { texts: texts.default, faults: faults.default };
    },
  },
  ar: {
    name: 'العربية',
    direction: 'rtl',
    async load(): Promise<Loaded> {
      const [texts, faults] = await Promise.all([import('./ar.json'), import('./faults/ar.json')]);
      return { texts: texts.default, faults: faults.default };
    },
  },
} as const satisfies Record<string, LanguageEntry>;

export type Language = keyof typeof LANGUAGES;

interface TextContextValue {
  readonly language: Language;
  setLanguage(language: Language): void;
  /** The text of a key. `{name}` is replaced; with `count`, a key `….one` or `….few` is taken where the language has it. */
  t(key: TextKey, values?: Values): string;
  /** What an error of the API says in this language. */
  faultText(fault: Fault): string;
}

const KEY = 'parley.language';
const TextContext = createContext<TextContextValue | undefined>(undefined);

export function useTexts(): TextContextValue {
  const context = use(TextContext);
  if (!context) throw new Error('There are no texts above this component.');
  return context;
}

const isLanguage = (code: string | null | undefined): code is Language => code != null && code in LANGUAGES;

function firstLanguage(): Language {
  const stored = localStorage.getItem(KEY);
  if (isLanguage(stored)) return stored;
  return navigator.languages.map(tag => tag.slice(0, 2)).find(isLanguage) ?? 'en';
}

export function TextProvider({ children }: { readonly children: ReactNode }) {
  const [language, choose] = useState<Language>(firstLanguage);
  const [texts, setTexts] = useState<Loaded & { readonly language: Language }>({ language: 'en', texts: english });

  useEffect(() => {
    let isCurrent = true;
    void LANGUAGES[language].load().then(loaded => {
      if (!isCurrent) return;
      setTexts({ language, ...loaded });
      document.documentElement.lang = language;
      document.documentElement.dir = LANGUAGES[language].direction;
    });
    return () => {
      isCurrent = false;
    };
  }, [language]);

  const setLanguage = useCallback((next: Language) => {
    localStorage.setItem(KEY, next);
    choose(next);
  }, []);
  const value = useMemo<TextContextValue>(() => {
    const plurals = new Intl.PluralRules(texts.language);
    const lookup = (key: string): string | undefined =>
      (texts.texts as Record<string, string>)[key] ?? (english as Record<string, string>)[key];
    return {
      language: texts.language,
      setLanguage,
      faultText: fault => faultText(fault, texts.faults ?? {}),
      t(key, values) {
        const count = values?.['count'];
        const plural = typeof count === 'number' ? lookup(`${key}.${plurals.select(count)}`) : undefined;
        const text = plural ?? lookup(key) ?? key;
        return values ? text.replace(/\{(\w+)\}/g, (_, name: string) => format(values[name], texts.language)) : text;
      },
    };
  }, [texts, setLanguage]);
  return <TextContext value={value}>{children}</TextContext>;
}

const format = (value: string | number | undefined, language: Language): string =>
  typeof value === 'number' ? value.toLocaleString(language) : (value ?? '');
