import { type RefObject, useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

export interface PlotOptions {
  /** In pixels; the width is that of the box. */
  readonly height: number;
  /** Minimum of the scale's upper end, so that small values do not look large. */
  readonly leastMaximum: number;
  readonly time: Intl.DateTimeFormat;
  readonly timeAxis: uPlot.Axis;
  readonly valueAxis: uPlot.Axis;
  readonly series: readonly uPlot.Series[];
  /** The element whose colour a series has. */
  readonly colourOf: (series: number) => Element | null | undefined;
  /** Seconds since 1970, then the values of each series. */
  readonly data: uPlot.AlignedData;
}

/**
 * Draws lines over time into a box.
 * @param options undefined draws nothing; another object draws the chart anew
 * @returns the chart, to set new data
 */
export function usePlot(
  box: RefObject<HTMLElement | null>,
  options: PlotOptions | undefined,
): RefObject<uPlot | undefined> {
  const drawn = useRef<uPlot>(undefined);
  useEffect(() => {
    const element = box.current;
    if (!element || !options) return;
    const { height, leastMaximum, time, timeAxis, valueAxis, series, colourOf, data } = options;
    const text = () => getComputedStyle(element).color;
    // A canvas does not support light-dark(): take the computed colours of elements, which also follow a change of the theme.
    const stroke = (index: number) => (): string => getComputedStyle(colourOf(index) ?? element).color;
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height,
        // The last label stands at the edge.
        padding: [8, 28, 0, 0],
        legend: { show: false },
        cursor: { show: false },
        scales: { y: { range: (_self, _min, max) => [0, Math.max(leastMaximum, (max ?? 0) * 1.05)] } },
        axes: [
          {
            stroke: text,
            grid: { show: false },
            ticks: { show: false },
            // Apart from the lowest label of the other axis, which stands beside the first one.
            gap: 9,
            size: 30,
            values: (_self, seconds) => seconds.map(second => time.format(second * 1_000)),
            ...timeAxis,
          },
          {
            stroke: text,
            grid: { stroke: () => getComputedStyle(element).borderTopColor, width: 1 },
            ticks: { show: false },
            ...valueAxis,
          },
        ],
        series: [{}, ...series.map((each, index) => ({ width: 2, stroke: stroke(index), ...each }))],
      },
      data,
      element,
    );
    drawn.current = plot;
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
      drawn.current = undefined;
    };
  }, [box, options]);
  return drawn;
}
