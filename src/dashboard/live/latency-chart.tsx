import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import type { LiveStatisticsQuery } from '../documents.generated.ts';
import { localeOf } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import { Figure } from './figure.tsx';

const HEIGHT = 120;

type Points = NonNullable<LiveStatisticsQuery['latency']>['series'];

/** Time from acceptance by the network to delivery: that of the last hour with deliveries, and of each hour of the day. */
export function LatencyChart({ points }: { readonly points: Points }) {
  const { t, language } = useTexts();
  const box = useRef<HTMLDivElement>(null);
  const marks = useRef<HTMLDListElement>(null);
  const last = points.findLast(({ deliveryMsP50 }) => deliveryMsP50 !== null);
  const drawn = JSON.stringify(points);
  useEffect(() => {
    const element = box.current;
    const legend = marks.current?.children;
    const shown = JSON.parse(drawn) as Points;
    if (!element || !legend || shown.length === 0) return;
    const hour = new Intl.DateTimeFormat(localeOf(language), { hour: '2-digit', minute: '2-digit' });
    const text = () => getComputedStyle(element).color;
    const seconds = (ms: number | null): number | null => (ms === null ? null : ms / 1_000);
    const series = (index: number, label: string): uPlot.Series => ({
      label,
      stroke: () => getComputedStyle(legend[index]?.lastElementChild as Element).color,
      width: 2,
      spanGaps: true,
      points: { show: shown.length < 2, size: 6 },
    });
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        // The last label stands at the edge.
        padding: [8, 28, 0, 0],
        legend: { show: false },
        cursor: { show: false },
        scales: { y: { range: (_self, _min, max) => [0, Math.max(1, (max ?? 0) * 1.1)] } },
        axes: [
          {
            stroke: text,
            grid: { show: false },
            ticks: { show: false },
            space: 70,
            size: 30,
            values: (_self, at) => at.map(each => hour.format(each * 1_000)),
          },
          {
            stroke: text,
            grid: { stroke: () => getComputedStyle(element).borderTopColor, width: 1 },
            ticks: { show: false },
            size: 44,
            space: 36,
            values: (_self, values) => values.map(each => `${each} s`),
          },
        ],
        series: [{}, series(0, 'p50'), series(1, 'p95')],
      },
      [
        shown.map(({ start }) => Date.parse(start) / 1_000),
        shown.map(({ deliveryMsP50 }) => seconds(deliveryMsP50)),
        shown.map(({ deliveryMsP95 }) => seconds(deliveryMsP95)),
      ],
      element,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [drawn, language]);
  return (
    <>
      <dl className="figures" ref={marks}>
        <Figure label={t('live.p50')} value={secondsText(last?.deliveryMsP50, language)} tone="delivered" />
        <Figure label={t('live.p95')} value={secondsText(last?.deliveryMsP95, language)} tone="slow" />
      </dl>
      {points.length === 0 ? (
        <p className="muted">{t('live.noDeliveries')}</p>
      ) : (
        <div ref={box} className="chart" role="img" aria-label={t('live.latencyTitle')} />
      )}
    </>
  );
}

function secondsText(ms: number | null | undefined, language: string): string {
  if (ms == null) return '–';
  return new Intl.NumberFormat(language, { style: 'unit', unit: 'second', maximumFractionDigits: 2 }).format(
    ms / 1_000,
  );
}
