import { durationText } from '../format.ts';
import type { Moment, OpenedRecord } from '../records.ts';
import { visibleText } from '../visible-text.ts';

interface Step {
  readonly at: number;
  /** Null: it had not ended. */
  readonly ms: number | null;
  readonly what: string;
  readonly kind: 'gateway' | 'plugin' | 'backend' | 'failed' | 'point';
}

/** What happened when: a table whose last column is a chart. */
export function RequestTimeline({
  record,
  timeline,
}: {
  readonly record: OpenedRecord;
  readonly timeline: readonly Moment[];
}) {
  const steps = stepsOf(timeline, record);
  const total = Math.max(0.01, ...steps.map(({ at, ms }) => at + (ms ?? 0)));
  return (
    <section className="card" aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      <div className="legend" aria-hidden="true">
        <Swatch kind="gateway" text="gateway" />
        <Swatch kind="plugin" text="plugins" />
        <Swatch kind="backend" text="backend" />
        {steps.some(({ kind }) => kind === 'failed') && <Swatch kind="failed" text="failed attempt" />}
      </div>
      <table className="data-table timeline">
        <thead>
          <tr>
            <th scope="col" className="number at">
              From
            </th>
            <th scope="col" className="what">
              Step
            </th>
            <th scope="col" className="number">
              Took
            </th>
            <th scope="col" className="track">
              <span className="visually-hidden">Chart</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {steps.map((step, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the steps of a record do not change
            <tr key={index}>
              <td className="number at mono">{durationText(step.at)}</td>
              <th scope="row" className="what">
                {visibleText(step.what)}
              </th>
              <td className="number mono">{tookText(step)}</td>
              <td className="track">
                <div className="bar-track">
                  <div
                    className={`bar ${step.kind}`}
                    style={{
                      left: `${Math.min(99.5, (step.at / total) * 100)}%`,
                      ...(step.kind === 'point'
                        ? {}
                        : { width: `${Math.min(100 - (step.at / total) * 100, barWidth(step, total))}%` }),
                    }}
                  />
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Swatch({ kind, text }: { readonly kind: string; readonly text: string }) {
  return (
    <span>
      <span className={`swatch ${kind}`} /> {text}
    </span>
  );
}

function barWidth({ at, ms }: Step, total: number): number {
  return ((ms ?? total - at) / total) * 100;
}

function tookText({ ms, kind }: Step): string {
  if (kind === 'point') return '';
  return ms === null ? 'not ended' : durationText(ms);
}

const backendSteps: ReadonlySet<string> = new Set(['attempt', 'connect', 'dns']);
const points: ReadonlySet<string> = new Set(['first byte of the answer', 'head of the answer to the client', 'end']);

function stepsOf(timeline: readonly Moment[], { explanation }: OpenedRecord): readonly Step[] {
  const attempts = explanation.attempts ?? [];
  let attempt = 0;
  return timeline.map(({ at, ms, what }): Step => {
    if (points.has(what)) return { at, ms, what, kind: 'point' };
    const [word = ''] = what.split(' ');
    if (word === 'plugin') return { at, ms, what, kind: 'plugin' };
    if (!backendSteps.has(word)) return { at, ms, what, kind: 'gateway' };
    if (word !== 'attempt') return { at, ms, what, kind: 'backend' };
    // Both lists are in the order in which attempts began.
    const view = attempts[attempt++];
    if (view === undefined) return { at, ms, what, kind: 'backend' };
    const result = view.failed ? `failed${view.error === undefined ? '' : ` (${view.error})`}` : `${view.status ?? ''}`;
    return { at, ms, what: `${what} at ${view.address} ${result}`.trim(), kind: view.failed ? 'failed' : 'backend' };
  });
}
