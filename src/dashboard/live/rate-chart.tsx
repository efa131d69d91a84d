import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { localeOf } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { type Rates, STATUSES } from './rates.ts';

const HEIGHT = 180;
const REDRAW_MS = 1_000;

/** Messages a second over the last two minutes, by status, with the rate of the last ten seconds as the legend. */
export function RateChart({ rates }: { readonly rates: Rates }) {
  const { t, language } = useTexts();
  const box = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLUListElement>(null);
  const label = t('live.perSecond');
  useEffect(() => {
    const locale = localeOf(language);
    const time = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
    const rate = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
    const element = box.current;
    const items = legend.current?.children;
    if (!element || !items) return;
    // A canvas knows no light-dark(): the colours are those of the legend as the browser computes them, also after a change of theme.
    const colourOf = (index: number): string => getComputedStyle(items[index] as Element).color;
    const text = () => getComputedStyle(element).color;
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        // The last label stands at the edge.
        padding: [8, 28, 0, 0],
        legend: { show: false },
        cursor: { show: false },
        scales: { y: { range: (_self, _min, max) => [0, Math.max(4, (max ?? 0) * 1.05)] } },
        axes: [
          {
            stroke: text,
            grid: { show: false },
            ticks: { show: false },
            space: 90,
            size: 30,
            values: (_self, seconds) => seconds.map(second => time.format(second * 1_000)),
          },
          {
            stroke: text,
            grid: { stroke: () => getComputedStyle(element).borderTopColor, width: 1 },
            ticks: { show: false },
            size: 40,
            incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000],
          },
        ],
        series: [
          {},
          ...STATUSES.map((status, index) => ({
            label: status,
            stroke: () => colourOf(index),
            width: 2,
            points: { show: false },
          })),
        ],
      },
      rates.series(Date.now()) as uPlot.AlignedData,
      element,
    );
    const draw = (): void => {
      const now = Date.now();
      plot.setData(rates.series(now) as uPlot.AlignedData);
      STATUSES.forEach((status, index) => {
        const value = items[index]?.querySelector('output');
        if (value) value.textContent = rate.format(rates.average(status, now));
      });
    };
    draw();
    const timer = setInterval(draw, REDRAW_MS);
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      clearInterval(timer);
      observer.disconnect();
      plot.destroy();
    };
  }, [rates, language]);
  return (
    <>
      <ul ref={legend} className="legend">
        {STATUSES.map(status => (
          <li key={status} className={`series-${status.toLowerCase()}`}>
            <span className="swatch" />
            <span className="legend-label">{t(status === 'RECEIVED' ? 'live.inbound' : `message.${status}`)}</span>
            <output aria-live="off" />
          </li>
        ))}
      </ul>
      <div ref={box} className="chart" role="img" aria-label={label} />
    </>
  );
}
