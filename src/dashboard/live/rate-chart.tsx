import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { localeOf } from '../texts/dates.ts';
import { useTexts } from '../texts/texts.tsx';
import type { EventBuffer } from './event-buffer.ts';

const HEIGHT = 180;

/** Events a second over the last two minutes. */
export function RateChart({ buffer }: { readonly buffer: EventBuffer }) {
  const { t } = useTexts();
  const box = useRef<HTMLDivElement>(null);
  const label = t('live.perSecond');
  const { language } = useTexts();
  useEffect(() => {
    const time = new Intl.DateTimeFormat(localeOf(language), { hour: '2-digit', minute: '2-digit', second: '2-digit' });
    const element = box.current;
    if (!element) return;
    // A canvas knows no light-dark(): computed colours are plain ones.
    const style = getComputedStyle(element);
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        scales: { y: { range: (_self, _min, max) => [0, Math.max(4, max)] } },
        axes: [
          {
            stroke: style.color,
            grid: { show: false },
            ticks: { show: false },
            values: (_self, seconds) => seconds.map(second => time.format(second * 1_000)),
          },
          { stroke: style.color, grid: { stroke: style.borderTopColor, width: 1 }, ticks: { show: false }, size: 40 },
        ],
        series: [{}, { label, stroke: style.caretColor, width: 2, points: { show: false } }],
      },
      buffer.series(Date.now()),
      element,
    );
    const timer = setInterval(() => plot.setData(buffer.series(Date.now())), 1_000);
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      clearInterval(timer);
      observer.disconnect();
      plot.destroy();
    };
  }, [buffer, label, language]);
  return <div ref={box} className="chart" role="img" aria-label={label} />;
}
