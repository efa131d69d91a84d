import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { useDates } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Examples } from '../ui/example.tsx';
import { Icon } from '../ui/icon.tsx';
import { SCROLLABLE } from '../ui/scrollable.ts';
import type { EventBuffer, LiveEvent } from './event-buffer.ts';
import { EventDialog } from './event-dialog.tsx';
import { toneOf, wireType } from './event-type.ts';

/** The list is drawn this often, however many events arrive. */
const DRAW_MS = 500;
const ROW_PX = 30;

/** The stream of events, newest first: only the rows in view are on the page. */
export function EventList({ buffer }: { readonly buffer: EventBuffer }) {
  const { t, language } = useTexts();
  const dates = useDates();
  const [events, setEvents] = useState<readonly LiveEvent[]>([]);
  const [total, setTotal] = useState(0);
  const [isPaused, setPaused] = useState(false);
  const [filter, setFilter] = useState('');
  const [opened, setOpened] = useState<string>();
  useEffect(() => {
    if (isPaused) return;
    const wanted = filter.trim().toLowerCase();
    let drawn = '';
    const draw = (): void => {
      const state = `${buffer.total} ${wanted}`;
      if (state === drawn) return;
      drawn = state;
      setEvents(buffer.latest(({ type }) => wanted === '' || wireType(type).includes(wanted)));
      setTotal(buffer.total);
    };
    draw();
    const timer = setInterval(draw, DRAW_MS);
    return () => clearInterval(timer);
  }, [isPaused, buffer, filter]);
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: events.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
  });
  return (
    <section className="card live-events">
      <header className="page-head">
        <h2>
          {t('live.events')} <span className="muted small">{total.toLocaleString(language)}</span>
        </h2>
        <div className="page-actions">
          <input
            className="filter"
            aria-label={t('live.filter')}
            placeholder="message.failed"
            value={filter}
            onChange={event => setFilter(event.target.value)}
          />
          <button type="button" className="button small" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
            <Icon name={isPaused ? 'play' : 'pause'} size={15} /> {isPaused ? t('resume') : t('pause')}
          </button>
        </div>
      </header>
      <div className="event-list" ref={scroller} {...SCROLLABLE}>
        {events.length === 0 && <p className="muted">{t('live.waiting')}</p>}
        {total === 0 && <Examples name="message" />}
        <ul aria-label={t('live.events')} style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map(({ index, start }) => {
            const event = events[index];
            if (!event) return null;
            return (
              <li key={event.id} data-event={event.id} style={{ transform: `translateY(${start}px)` }}>
                <button type="button" onClick={() => setOpened(event.id)}>
                  <time className="muted" dateTime={event.occurredAt}>
                    {dates.exact(event.occurredAt)}
                  </time>
                  <span className={`dot ${toneOf(event.type)}`} />
                  <code>{wireType(event.type)}</code>
                </button>
              </li>
            );
          })}
        </ul>
      </div>
      {opened !== undefined && <EventDialog id={opened} onClose={() => setOpened(undefined)} />}
    </section>
  );
}
