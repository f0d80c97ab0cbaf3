import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchContext, Scenario } from '../context.ts';
import type { Figure } from '../figures/figures.ts';
import { formatValue, markdownTable } from '../figures/table.ts';
import { BenchError } from '../machine/tools.ts';
import { confirm, type Difference, differences } from './difference.ts';
import { runInTwoLanes } from './lanes.ts';

/**
 * Runs a scenario with both sources in turns, and again with new processes if a row is worse. Rows that only one of them has
 * are left out.
 */
export async function compareSources(
  scenario: Scenario,
  context: BenchContext,
  before: string,
  after: string,
): Promise<readonly Difference[]> {
  const rows = await compareOnce(scenario, context, before, after);
  if (!rows.some(({ verdict }) => verdict === 'worse')) return rows;
  context.say(`${scenario.name} seems to be worse: again, with new processes`);
  return confirm(rows, await compareOnce(scenario, context, before, after));
}

async function compareOnce(
  scenario: Scenario,
  context: BenchContext,
  before: string,
  after: string,
): Promise<readonly Difference[]> {
  const results = await runInTwoLanes([before, after], (lane) => {
    const folder = join(context.folder, `${scenario.name}-${lane}`);
    mkdirSync(folder, { recursive: true });
    const say = (text: string): void => context.say(`${lane === 0 ? 'before' : 'after'}: ${text}`);
    return scenario.run({ ...context, folder, say });
  });
  const [old, current] = results.map((result): readonly Figure[] | BenchError => {
    if (result.status === 'fulfilled') return result.value;
    if (result.reason instanceof BenchError) return result.reason;
    throw result.reason;
  });
  if (current instanceof BenchError) throw current;
  if (old instanceof BenchError) context.say(`${scenario.name} failed before: ${old.message}`);
  return old === undefined || old instanceof BenchError || current === undefined ? [] : differences(old, current);
}

/** The rows that both have, as markdown. */
export function differenceTable(rows: readonly Difference[]): string {
  return markdownTable([
    ['scenario', 'what', 'before', 'after', 'change', 'with 95 % confidence', 'verdict'],
    ...rows.map((row) => [
      row.scenario,
      row.what,
      `${formatValue(row.before)} ${row.unit}`,
      `${formatValue(row.after)} ${row.unit}`,
      Number.isNaN(row.change) ? '' : percent(row.change),
      row.interval === null ? '' : row.interval.map(percent).join(' to '),
      row.verdict === 'worse' ? '**worse**' : row.verdict,
    ]),
  ]);
}

function percent(part: number): string {
  return `${part < 0 ? '-' : '+'}${Math.abs(part * 100).toFixed(1)} %`;
}
