import { useState } from 'react';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { useEmulator } from './use-chat.ts';

/** Longer than the window of 24 hours. */
const HOURS = 25;

/** Event on `window`, dispatched when service windows were moved back. */
export const TIME_PASSED = 'parley:time-passed';

/** Simulates that more than a day has passed, so that service windows close. */
export function ClockButton() {
  const { t } = useTexts();
  const emulator = useEmulator();
  const [isDone, setDone] = useState(false);
  const advance = async (): Promise<void> => {
    await emulator.passTime(HOURS);
    window.dispatchEvent(new Event(TIME_PASSED));
    setDone(true);
  };
  return (
    <button type="button" className="button small" title={t('phone.advanceHint')} onClick={() => void advance()}>
      <Icon name={isDone ? 'check' : 'forward'} size={16} /> {t('phone.advance', { count: HOURS })}
    </button>
  );
}
