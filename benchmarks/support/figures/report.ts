import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Machine } from '../machine/machine.ts';
import type { Placement } from '../machine/placement.ts';
import type { Figure } from './figures.ts';
import { formatValue, markdownTable } from './table.ts';

export interface Report {
  readonly machine: Machine;
  readonly seconds: number;
  readonly rounds: number;
  readonly figures: readonly Figure[];
}

const root = join(import.meta.dirname, '..', '..', '..');
const page = join(root, 'docs', 'benchmarks.md');
const startMark = '<!-- results: written by npm run bench -->';
const endMark = '<!-- end of results -->';

/** The table with its header, as markdown. */
export function reportTable(report: Report): string {
  const { machine } = report;
  const rows = report.figures.map((one) => [
    one.scenario,
    one.what,
    `${formatValue(one.gateway)} ${one.unit}`,
    one.peer === null ? '' : `${formatValue(one.peer)} ${one.unit} (${one.peerName})`,
    one.ratio === null ? '' : `${one.ratio.toFixed(2)}x`,
    spreadText(one),
    one.aim,
    one.met === null ? '' : one.met ? 'yes' : '**no**',
  ]);
  const header = [
    `${machine.date}, commit ${machine.commit}. ${machine.cores} x ${machine.cpu}, ${machine.memoryGb} GB, ${machine.system} (Linux ${machine.kernel});`,
    `Node ${machine.node}, nginx ${machine.nginx}, HAProxy ${machine.haproxy}, wrk ${machine.wrk}. Medians of ${report.rounds} rounds of ${report.seconds} s, interleaved.`,
    placementText(machine.placement),
    'CPU is that of the whole process, with all its threads. Spread: the smallest and the largest of the rounds.',
  ].join('\n');
  const head = ['scenario', 'what', 'gateway', 'compared with', 'ratio', 'spread', 'aim', 'met'];
  return `${header}\n\n${markdownTable([head, ...rows])}`;
}

function placementText(placement: Placement | null): string {
  if (placement === null) return 'Not pinned to cores.';
  return [
    `Pinned: each peer, and a gateway with one worker, has core ${placement.subject} with all its threads, the control plane included;`,
    `load generators and backend have core ${placement.load}. Gateways with two workers use cores ${placement.all}.`,
  ].join('\n');
}

function spreadText({ spread, ratio }: Figure): string {
  if (spread === null) return '';
  if (ratio !== null) return `${spread.min.toFixed(2)} to ${spread.max.toFixed(2)}x`;
  return `${formatValue(spread.min)} to ${formatValue(spread.max)}`;
}

/** Keeps the run as JSON and writes its table into docs/benchmarks.md. */
export function keepReport(report: Report): string {
  const folder = join(root, 'benchmarks', 'results');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${report.machine.date}-${report.machine.commit.replaceAll(' ', '-')}.json`);
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
  writePage(reportTable(report));
  return file;
}

function writePage(table: string): void {
  mkdirSync(dirname(page), { recursive: true });
  const text = existsSync(page) ? readFileSync(page, 'utf8') : `# Benchmarks\n\n${startMark}\n${endMark}\n`;
  const start = text.indexOf(startMark);
  const end = text.indexOf(endMark);
  if (start < 0 || end < start) throw new Error(`${page} has lost its markers ${startMark} and ${endMark}`);
  writeFileSync(page, `${text.slice(0, start + startMark.length)}\n\n${table}\n${text.slice(end)}`);
}
