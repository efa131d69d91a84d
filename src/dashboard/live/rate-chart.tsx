import { useEffect, useMemo, useRef } from 'react';
import type uPlot from 'uplot';
import { localeOf } from '../texts/date-texts.ts';
import { useTexts } from '../texts/texts.tsx';
import { type Rates, STATUSES } from './rates.ts';
import { type PlotOptions, usePlot } from './use-plot.ts';

const REDRAW_MS = 1_000;

/** Messages a second over the last two minutes, by status, with the rate of the last ten seconds as the legend. */
export function RateChart({ rates }: { readonly rates: Rates }) {
  const { t, language } = useTexts();
  const box = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLUListElement>(null);
  const locale = localeOf(language);
  const plot = usePlot(
    box,
    useMemo(
      (): PlotOptions => ({
        height: 180,
        leastMaximum: 4,
        time: new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit' }),
        timeAxis: { space: 90 },
        valueAxis: {
          size: 40,
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000],
          values: (_self, values) => values.map(value => value.toLocaleString(locale)),
        },
        series: STATUSES.map(status => ({ label: status, points: { show: false } })),
        colourOf: index => legend.current?.children[index],
        data: rates.series(Date.now()) as uPlot.AlignedData,
      }),
      [rates, locale],
    ),
  );
  useEffect(() => {
    const rate = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
    const draw = (): void => {
      const now = Date.now();
      plot.current?.setData(rates.series(now) as uPlot.AlignedData);
      STATUSES.forEach((status, index) => {
        const value = legend.current?.children[index]?.querySelector('output');
        if (value) value.textContent = rate.format(rates.average(status, now));
      });
    };
    draw();
    const timer = setInterval(draw, REDRAW_MS);
    return () => clearInterval(timer);
  }, [plot, rates, locale]);
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
      <div ref={box} className="chart" role="img" aria-label={t('live.perSecond')} />
    </>
  );
}
