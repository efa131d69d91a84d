import { useMemo, useRef } from 'react';
import type { LiveStatisticsQuery } from '../documents.generated.ts';
import { localeOf } from '../texts/date-texts.ts';
import { useTexts } from '../texts/texts.tsx';
import { Figure } from './figure.tsx';
import { type PlotOptions, usePlot } from './use-plot.ts';

const HOUR_SECONDS = 3_600;

type Points = NonNullable<LiveStatisticsQuery['latency']>['series'];

/** Time from acceptance by the network to delivery: that of the last hour with deliveries, and of each hour of the day. */
export function LatencyChart({ points }: { readonly points: Points }) {
  const { t, language } = useTexts();
  const box = useRef<HTMLDivElement>(null);
  const marks = useRef<HTMLDListElement>(null);
  const last = points.findLast(({ deliveryMsP50 }) => deliveryMsP50 !== null);
  const locale = localeOf(language);
  // Each answer is another object; the chart is drawn anew for other values only.
  const drawn = JSON.stringify(points);
  usePlot(
    box,
    useMemo(
      () => plotOf(JSON.parse(drawn) as Points, locale, index => marks.current?.children[index]?.lastElementChild),
      [drawn, locale],
    ),
  );
  return (
    <>
      <dl className="figures" ref={marks}>
        <Figure label={t('live.p50')} value={durationText(last?.deliveryMsP50, locale)} tone="delivered" />
        <Figure label={t('live.p95')} value={durationText(last?.deliveryMsP95, locale)} tone="slow" />
      </dl>
      {points.length === 0 ? (
        <p className="muted">{t('live.noDeliveries')}</p>
      ) : (
        <div ref={box} className="chart" role="img" aria-label={t('live.latencyTitle')} />
      )}
    </>
  );
}

function plotOf(points: Points, locale: string, colourOf: PlotOptions['colourOf']): PlotOptions | undefined {
  if (points.length === 0) return undefined;
  const isShort = points.every(({ deliveryMsP95 }) => (deliveryMsP95 ?? 0) < 1_000);
  const number = formatOf(isShort, locale, 1);
  const line = { spanGaps: true, points: { show: points.length < 2, size: 6 } };
  return {
    height: 120,
    leastMaximum: isShort ? 10 : 1_000,
    time: new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' }),
    timeAxis: { space: 60, incrs: [1, 2, 3, 6, 12, 24].map(hours => hours * HOUR_SECONDS) },
    valueAxis: {
      size: 64,
      space: 36,
      ...(!isShort && {
        incrs: [100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000, 600_000, 3_600_000],
      }),
      values: (_self, values) => values.map(number),
    },
    series: [
      { label: 'p50', ...line },
      { label: 'p95', ...line },
    ],
    colourOf,
    data: [
      points.map(({ start }) => Date.parse(start) / 1_000),
      points.map(({ deliveryMsP50 }) => deliveryMsP50),
      points.map(({ deliveryMsP95 }) => deliveryMsP95),
    ],
  };
}

const durationText = (ms: number | null | undefined, locale: string): string =>
  ms == null ? '–' : formatOf(ms < 1_000, locale, 2)(ms);

/** Writes milliseconds as such, or as seconds. */
function formatOf(isShort: boolean, locale: string, digits: number): (ms: number) => string {
  const unit = isShort ? 'millisecond' : 'second';
  const format = new Intl.NumberFormat(locale, { style: 'unit', unit, maximumFractionDigits: isShort ? 0 : digits });
  return ms => format.format(isShort ? ms : ms / 1_000);
}
