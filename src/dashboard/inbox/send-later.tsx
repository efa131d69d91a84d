import { type FormEvent, useId, useState } from 'react';
import { localeOf } from '../texts/date-texts.ts';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { presentTime } from '../ui/now.ts';
import { type UserError, UserErrors } from '../ui/user-errors.tsx';

const HOUR = 3_600_000;
const MAX_AHEAD_MS = 365 * 24 * HOUR;

/** `2026-11-23T14:05`, as a field for date and time has it: on the clock of this computer. */
export function localTime(ms: number): string {
  const local = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

const atNine = (daysAhead: number, nowMs: number): number => {
  const day = new Date(nowMs);
  day.setDate(day.getDate() + daysAhead);
  return day.setHours(9, 0, 0, 0);
};

/** Days until the next Monday, which is not today. */
const daysToMonday = (nowMs: number): number => (8 - new Date(nowMs).getDay()) % 7 || 7;

interface FieldProps {
  readonly value: string;
  readonly onChange: (local: string) => void;
  /** ISO 8601: from then on only templates are sent; undefined where that does not matter. */
  readonly windowEnd?: string | null | undefined;
}

/** A date and time to come, with the usual ones to choose from. */
export function TimeField({ value, onChange, windowEnd }: FieldProps) {
  const { t, language } = useTexts();
  const dates = useDates();
  const [now] = useState(presentTime);
  const id = useId();
  const weekday = new Intl.DateTimeFormat(localeOf(language), { weekday: 'long' });
  const monday = atNine(daysToMonday(now), now);
  const choices = [
    { label: t('later.hour'), at: now + HOUR },
    { label: t('later.tomorrow', { time: dates.time(new Date(atNine(1, now)).toISOString()) }), at: atNine(1, now) },
    {
      label: t('later.weekday', { day: weekday.format(monday), time: dates.time(new Date(monday).toISOString()) }),
      at: monday,
    },
  ];
  const chosen = Date.parse(value);
  const isAfterWindow = windowEnd !== undefined && chosen > (windowEnd === null ? 0 : Date.parse(windowEnd));
  return (
    <div className="field">
      <label htmlFor={id}>
        <span>{t('later.when')}</span>
      </label>
      <div className="time-choices">
        {choices.map(({ label, at }) => (
          <button
            key={label}
            type="button"
            className="chip-button"
            aria-pressed={value === localTime(at)}
            onClick={() => onChange(localTime(at))}
          >
            {label}
          </button>
        ))}
      </div>
      <input
        id={id}
        type="datetime-local"
        required
        min={localTime(now + 60_000)}
        max={localTime(now + MAX_AHEAD_MS)}
        value={value}
        aria-describedby={`${id}-note`}
        onChange={event => onChange(event.target.value)}
      />
      <span id={`${id}-note`} className="muted small field-hint">
        {t('later.zone', { zone: Intl.DateTimeFormat().resolvedOptions().timeZone })}
      </span>
      {isAfterWindow && (
        <p className="notice" role="status">
          {t('later.afterWindow')}
        </p>
      )}
    </div>
  );
}

interface Props {
  readonly title: string;
  readonly action: string;
  /** ISO 8601. */
  readonly initial?: string | undefined;
  readonly windowEnd?: string | null | undefined;
  readonly errors?: readonly UserError[];
  readonly onChoose: (instant: string) => void;
  readonly onClose: () => void;
}

/** Asks when to send a message. */
export function SendLaterDialog({ title, action, initial, windowEnd, errors, onChoose, onClose }: Props) {
  const { t } = useTexts();
  const [value, setValue] = useState(() => localTime(initial ? Date.parse(initial) : atNine(1, presentTime())));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onChoose(new Date(value).toISOString());
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <TimeField value={value} onChange={setValue} windowEnd={windowEnd} />
        <UserErrors errors={errors ?? []} />
        <footer className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button type="submit" className="button primary">
            {action}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

interface ToggleProps {
  /** Empty: now. */
  readonly value: string;
  readonly onChange: (local: string) => void;
  readonly windowEnd?: string | null | undefined;
}

/** The part of a form that sends: now, or at a time. */
export function SendLaterField({ value, onChange, windowEnd }: ToggleProps) {
  const { t } = useTexts();
  return (
    <>
      <label className="toggle">
        <input
          type="checkbox"
          checked={value !== ''}
          onChange={event => onChange(event.target.checked ? localTime(atNine(1, presentTime())) : '')}
        />
        {t('later.title')}
      </label>
      {value !== '' && <TimeField value={value} onChange={onChange} windowEnd={windowEnd} />}
    </>
  );
}

/** The instant of a field for date and time; undefined: now. */
export const instantOf = (local: string): string | undefined =>
  local === '' ? undefined : new Date(local).toISOString();
