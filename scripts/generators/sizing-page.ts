import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceGenerated } from '../../src/shared/schema/export/generated-block.ts';
import { root } from '../lib/files.ts';
import type { Generator } from '../lib/generated-file.ts';
import { type Constant, constants } from './sizing/constants.ts';
import { nodesFor, simulateDay } from './sizing/day.ts';

const path = 'docs/sizing.md';
const sizes = [1, 10, 100, 1000];

/** The tables of docs/sizing.md. */
export const generateSizingPage: Generator = async () => {
  const page = readFileSync(join(root, path), 'utf8');
  const tables = [
    '## By size',
    bySize(),
    '## The day',
    byHour(),
    '## The numbers behind it',
    table(['what', 'value', 'source'], Object.values(constants).map(describe)),
  ];
  return [{ path, content: replaceGenerated(page, tables.join('\n\n')) }];
};

function describe({ what, value, unit, source }: Constant): readonly string[] {
  return [what, `${value}${unit === '' || unit.startsWith('/') ? unit : ` ${unit}`}`, source];
}

function bySize(): string {
  const c = Object.fromEntries(Object.entries(constants).map(([name, { value }]) => [name, value])) as Record<
    keyof typeof constants,
    number
  >;
  const leases = (nodes: number): number => nodes * c.hotLimits * c.leaseRate;
  const planes = c.controlPlanes;
  const rows: readonly (readonly [what: string, of: (nodes: number, cores: number) => string])[] = [
    ['requests per second', (_, cores) => count((cores * 1e6) / c.requestCpu)],
    ['nodes', (nodes) => count(nodes)],
    [
      '**all nodes on the database:** connections, idle to busy',
      (nodes) => `${count(nodes * c.connections)} to ${count(nodes * c.maxConnections)}`,
    ],
    ['transactions per second at rest', (nodes) => count(nodes * c.idleTransactions)],
    ['CPU of the database at rest', (nodes) => percent(nodes * c.idleCpu)],
    ['transactions of an edit', (nodes) => count(c.editTransactions + nodes * c.editReads)],
    ['CPU of the database, with edits', (nodes) => percent(nodes * (c.idleCpu + c.editCpu * c.edits))],
    ['leases per second', (nodes) => count(leases(nodes))],
    ['CPU of the database for leases', (nodes) => percent(leases(nodes) * c.leaseCpu)],
    [
      '**data planes, 3 control planes:** connections to the database',
      () => `${count(planes * c.connections)} to ${count(planes * c.maxConnections)}`,
    ],
    ['data planes of each control plane', (nodes) => count(Math.ceil(nodes / planes))],
    ['reports per second, all', (nodes) => count(nodes / c.reportInterval)],
    ['CPU of the database for reports', (nodes) => percent((nodes / c.reportInterval) * c.reportCpu)],
    ['reports to each control plane', (nodes) => bytes(((nodes / planes) * c.reportBytes) / c.reportInterval)],
    ['feed of each control plane, with edits', (nodes) => bytes((nodes / planes) * c.editBytes * c.edits)],
    ['CPU of the database at rest and for edits', () => percent(planes * (c.idleCpu + c.editCpu * c.edits))],
  ];
  const header = ['', ...sizes.map((cores) => `${count(cores)} ${cores === 1 ? 'core' : 'cores'}`)];
  return table(
    header,
    rows.map(([what, of]) => [what, ...sizes.map((cores) => of(nodesFor(cores), cores))]),
  );
}

function byHour(): string {
  const day = simulateDay();
  const rows = Array.from({ length: 12 }, (_, at) => {
    const hours = day.slice(at * 120, at * 120 + 120);
    const most = (read: (minute: (typeof hours)[number]) => number): number => Math.max(...hours.map(read));
    return [
      `${String(at * 2).padStart(2, '0')}:00`,
      `${count(Math.min(...hours.map(({ demand }) => demand)))} to ${count(most(({ demand }) => demand))}`,
      count((most(({ demand }) => demand) * 1e6) / constants.requestCpu.value),
      `${Math.min(...hours.map(({ nodes }) => nodes))} to ${most(({ nodes }) => nodes)}`,
      `${Math.round(most(({ busy }) => busy) * 100)} %`,
      count(hours.filter(({ busy }) => busy > 0.9).length),
      count(most(({ nodes }) => nodes) * constants.idleTransactions.value),
    ];
  });
  const header = [
    'from',
    'cores of traffic',
    'requests per second',
    'nodes',
    'busiest',
    'minutes above 90 %',
    'database, transactions per second',
  ];
  return table(header, rows);
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(header), `|${'---|'.repeat(header.length)}`, ...rows.map(line)].join('\n');
}

function count(value: number): string {
  const digits = value < 10 ? 1 : 0;
  return Number(value.toFixed(digits)).toLocaleString('en');
}

/** Of one core, from milliseconds in a second. */
function percent(milliseconds: number): string {
  const share = milliseconds / 10;
  if (share < 0.01) return 'below 0.01 %';
  return share >= 100 ? `${Number((share / 100).toFixed(1))} cores` : `${Number(share.toFixed(share < 1 ? 2 : 0))} %`;
}

function bytes(kilobytes: number): string {
  return `${Number(kilobytes.toFixed(kilobytes < 10 ? 1 : 0))} kB/s`;
}
