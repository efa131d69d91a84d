import { useEffect, useState } from 'react';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'parley.theme';

const stored = (): Theme => THEMES.find(theme => theme === localStorage.getItem(KEY)) ?? 'system';

/** Light, dark, or as the system has it. */
export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>(stored);
  useEffect(() => {
    localStorage.setItem(KEY, theme);
    applyTheme(theme);
  }, [theme]);
  return [theme, setTheme];
}

export function applyTheme(theme: Theme = stored()): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}
