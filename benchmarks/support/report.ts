import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Figure } from './figures.ts';
import type { Machine } from './machine.ts';

export interface Report {
  readonly machine: Machine;
  readonly seconds: number;
  readonly rounds: number;
  readonly figures: readonly Figure[];
}

const root = join(import.meta.dirname, '..', '..');
const page = join(root, 'docs', 'benchmarks.md');
const startMark = '<!-- results: written by npm run bench -->';
const endMark = '<!-- end of results -->';

/** The table with its header, as markdown. */
export function reportTable(report: Report): string {
  const { machine } = report;
  const header = [
    `${machine.date}, commit ${machine.commit}. ${machine.cores} x ${machine.cpu}, ${machine.memoryGb} GB, ${machine.system} (Linux ${machine.kernel});`,
    `Node ${machine.node}, nginx ${machine.nginx}, wrk ${machine.wrk}. Medians of ${report.rounds} rounds of ${report.seconds} s, interleaved.`,
  ].join('\n');
  const rows = report.figures.map((one) => [
    one.scenario,
    one.what,
    `${round(one.gateway)} ${one.unit}`,
    one.peer === null ? '' : `${round(one.peer)} ${one.unit} (${one.peerName})`,
    one.ratio === null ? '' : `${one.ratio.toFixed(2)}x`,
    one.aim,
    one.met === null ? '' : one.met ? 'yes' : '**no**',
  ]);
  const table = [['scenario', 'what', 'gateway', 'compared with', 'ratio', 'aim', 'met'], ...rows];
  const widths = table[0]?.map((_, column) => Math.max(3, ...table.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = table.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  lines.splice(1, 0, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`);
  return `${header}\n\n${lines.join('\n')}\n`;
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

function round(value: number): string {
  if (value === 0) return '0';
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US').replaceAll(',', ' ');
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
