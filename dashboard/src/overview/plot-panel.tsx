import { lazy, type ReactNode, Suspense, useId, useState } from 'react';
import { type PlotLine, type PlotValues, timeText } from './plot-lines.ts';

const Plot = lazy(() => import('./plot.tsx'));
const height = 148;

/** One number above a plot, which is also the legend of its line. */
export interface Figure {
  readonly label: string;
  /** Index of its line; null: none. */
  readonly line: number | null;
  readonly value: ReactNode;
}

interface PlotPanelProps {
  readonly title: string;
  readonly lines: readonly PlotLine[];
  readonly values: PlotValues;
  readonly format: (value: number) => string;
  /** The value that the vertical axis has at least room for. */
  readonly least: number;
  readonly figures: readonly Figure[];
  /** A sentence on the period as a whole. */
  readonly note: ReactNode;
}

/** Numbers, their plot, and a table with the same values. */
export function PlotPanel({ title, lines, values, format, least, figures, note }: PlotPanelProps) {
  const heading = useId();
  return (
    <section className="card ov-panel" aria-labelledby={heading}>
      <h2 id={heading}>{title}</h2>
      <dl className="ov-figures">
        {figures.map(({ label, line, value }) => (
          <div key={label}>
            <dt>
              {line !== null && lines[line] !== undefined && (
                <span
                  className={`ov-key ${lines[line].style}`}
                  style={{ color: `var(${lines[line].colour})` }}
                  aria-hidden="true"
                />
              )}
              {label}
            </dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p className="ov-note">{note}</p>
      <div className="ov-plot" role="img" aria-label={description(title, lines, values, format)}>
        <Suspense fallback={<div style={{ height }} />}>
          <Plot lines={lines} values={values} format={format} height={height} least={least} />
        </Suspense>
      </div>
      <ValueTable title={title} lines={lines} values={values} format={format} />
    </section>
  );
}

function description(
  title: string,
  lines: readonly PlotLine[],
  { time, values, step }: PlotValues,
  format: (value: number) => string,
): string {
  const parts = lines.map(({ label }, line) => {
    let greatest: number | null = null;
    for (const value of values[line] ?? [])
      if (value !== null && (greatest === null || value > greatest)) greatest = value;
    return `${label}: ${greatest === null ? 'no value' : `at most ${format(greatest)}`}`;
  });
  const [from = 0] = time;
  return `Plot of ${title.toLowerCase()} from ${timeText(from, step)} to ${timeText(time.at(-1) ?? 0, step)}. ${parts.join('. ')}.`;
}

interface Snapshot {
  readonly rows: readonly (readonly string[])[];
}

/** The values as they were when the table was opened: one that moves each second cannot be read. */
function ValueTable({ title, lines, values, format }: Pick<PlotPanelProps, 'title' | 'lines' | 'values' | 'format'>) {
  const [snapshot, setSnapshot] = useState<Snapshot | null>(null);
  const read = (): void => setSnapshot(snapshotOf(values, lines.length, format));
  return (
    <details
      className="ov-values"
      onToggle={({ currentTarget: { open } }) => {
        if (open) read();
        else setSnapshot(null);
      }}
    >
      <summary>
        Values<span className="visually-hidden"> of {title.toLowerCase()} as a table</span>
      </summary>
      {snapshot !== null && (
        <>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard */}
          <section className="ov-scroll" tabIndex={0} aria-label={`${title}, values`}>
            <table className="ov-table">
              <thead>
                <tr>
                  <th scope="col">Time</th>
                  {lines.map(({ label }) => (
                    <th key={label} scope="col" className="number">
                      {label}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {snapshot.rows.map(([time = '', ...row], at) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: rows are replaced as a whole
                  <tr key={at}>
                    <th scope="row">{time}</th>
                    {row.map((text, line) => (
                      <td key={lines[line]?.label} className="number">
                        {text}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
          <button type="button" className="button plain tight" onClick={read}>
            Read again
          </button>
        </>
      )}
    </details>
  );
}

/** The newest first. */
function snapshotOf({ time, values, step }: PlotValues, lines: number, format: (value: number) => string): Snapshot {
  const rows: string[][] = [];
  for (let at = time.length - 1; at >= 0; at--) {
    const row = Array.from({ length: lines }, (_, line) => values[line]?.[at] ?? null);
    if (row.every((value) => value === null)) continue;
    rows.push([timeText(time[at]!, step), ...row.map((value) => (value === null ? '–' : format(value)))]);
  }
  return { rows };
}
