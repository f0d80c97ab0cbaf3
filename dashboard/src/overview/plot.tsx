import { useEffect, useRef } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { type PlotLine, type PlotValues, timeText } from './plot-lines.ts';

interface PlotProps {
  readonly lines: readonly PlotLine[];
  readonly values: PlotValues;
  readonly format: (value: number) => string;
  readonly height: number;
  /** The value that the vertical axis has at least room for. */
  readonly least: number;
}

const dashes = { area: undefined, solid: undefined, dashed: [5, 3], dotted: [1.5, 2.5] } as const;
const axisWidth = 52;

/** A plot that is made once and changed in place. */
export default function Plot({ lines, values, format, height, least }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const readout = useRef<HTMLParagraphElement>(null);
  const plot = useRef<UPlot | null>(null);
  const latest = useRef(values);
  latest.current = values;

  useEffect(() => {
    const place = box.current!;
    const made = new UPlot(
      options(lines, format, height, { width: place.clientWidth, least, latest, readout }),
      alignedData(latest.current),
      place,
    );
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: place.clientWidth, height }));
    resized.observe(place);
    const unwatch = watchTheme(() => made.redraw(true, true));
    return () => {
      unwatch();
      resized.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [lines, format, height, least]);

  // The arrays of the live window stay the same; their values do not.
  useEffect(() => plot.current?.setData(alignedData(values)), [values.version, values]);

  return (
    <>
      <div ref={box} className="ov-canvas" />
      <p ref={readout} className="ov-readout" aria-hidden="true" />
    </>
  );
}

function alignedData({ time, values }: PlotValues): UPlot.AlignedData {
  return [time, ...values];
}

interface Live {
  readonly width: number;
  readonly least: number;
  readonly latest: { readonly current: PlotValues };
  readonly readout: { readonly current: HTMLParagraphElement | null };
}

function options(
  lines: readonly PlotLine[],
  format: (value: number) => string,
  height: number,
  { width, least, latest, readout }: Live,
): UPlot.Options {
  const grid = { stroke: () => token('--line'), width: 1 };
  const axis = { stroke: () => token('--text-3'), font: `11px ${getComputedStyle(document.body).fontFamily}` };
  return {
    width,
    height,
    legend: { show: false },
    padding: [6, 20, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    scales: {
      x: { time: true },
      // From zero, and never so narrow that a single request fills the plot.
      y: { range: (_plot, _from, most) => [0, Math.max(least, (most ?? 0) * 1.08)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        ticks: { show: false },
        size: 24,
        gap: 6,
        // Dates are wider than times of the day.
        space: (_plot, _axis, from, to) => (to - from > 2 * 86_400 ? 56 : 40),
        values: (_plot, splits, _axis, _space, increment) => splits.map((time) => timeText(time, increment)),
      },
      {
        ...axis,
        grid,
        ticks: { show: false },
        size: axisWidth,
        gap: 6,
        space: 28,
        values: (_plot, splits) => splits.map((value) => format(value)),
      },
    ],
    series: [
      {},
      ...lines.map(({ label, colour, style }): UPlot.Series => {
        const dash = dashes[style];
        return {
          label,
          stroke: () => token(colour),
          width: 1.5,
          points: { show: true, size: 4, filter: lonelyPoints },
          ...(dash === undefined ? {} : { dash: [...dash] }),
          ...(style === 'area' ? { fill: () => withAlpha(token(colour)) } : {}),
        };
      }),
    ],
    hooks: {
      setCursor: [
        ({ cursor }) => {
          if (readout.current !== null)
            readout.current.textContent = readoutText(lines, latest.current, format, cursor.idx ?? null);
        },
      ],
    },
  };
}

/** Values with none before and after them: a line does not show them. */
const lonelyPoints: UPlot.Series.Points.Filter = ({ data }, series) => {
  const values = data[series] ?? [];
  const found: number[] = [];
  for (let at = 0; at < values.length; at++) {
    if (isKnown(values[at]) && !isKnown(values[at - 1]) && !isKnown(values[at + 1])) found.push(at);
  }
  return found;
};

function isKnown(value: number | null | undefined): boolean {
  return value !== null && value !== undefined;
}

/** The values under the pointer. Null: it is elsewhere. */
function readoutText(
  lines: readonly PlotLine[],
  { time, values, step }: PlotValues,
  format: (value: number) => string,
  at: number | null,
): string {
  if (at === null) return '';
  const shown = lines.map(({ label }, line) => {
    const value = values[line]?.[at];
    return `${label} ${value === null || value === undefined ? '–' : format(value)}`;
  });
  return `${timeText(time[at] ?? 0, step)}  ${shown.join('  ')}`;
}

const probe = document.createElement('span');
probe.hidden = true;

/** The colour of a token in the present theme. The value of the property itself names the colours of both. */
function token(name: string): string {
  if (!probe.isConnected) document.body.append(probe);
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

function withAlpha(colour: string): string {
  return `color-mix(in srgb, ${colour} 14%, transparent)`;
}

/** Calls back when the colours have changed. Returns what ends it. */
function watchTheme(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', changed);
  return () => {
    observer.disconnect();
    system.removeEventListener('change', changed);
  };
}
