import type { LeftOut } from '../convert/left-out.ts';
import type { Difference } from '../differences/differences-of.ts';
import { printable } from '../kong-entity.ts';
import { type ImportReport, unaccepted, type WrittenTo } from './import-report.ts';

/** Entities that are named for one difference. */
const maxNames = 4;

/** The report as text, line by line. */
export function printReport(report: ImportReport, write: (line: string) => void): void {
  const out = (line: string): void => write(printable(line));
  out(report.source);
  out('');
  printCounts(report, out);
  if (report.differences.length > 0) printDifferences(report.differences, out);
  if (report.leftOut.length > 0) printLeftOut(report, out);
  if (report.written !== null) out(writtenLine(report.written));
}

function printCounts({ carriedOver, written }: ImportReport, out: (line: string) => void): void {
  const names = Object.keys(carriedOver);
  out(written === null ? 'Can be carried over:' : 'Carried over:');
  if (names.length === 0) out('  nothing');
  const width = Math.max(...names.map((name) => name.length));
  for (const [name, count] of Object.entries(carriedOver)) out(`  ${name.padEnd(width)}  ${count}`);
  out('');
}

function printDifferences(differences: readonly Difference[], out: (line: string) => void): void {
  out('Differs from Kong (docs/differences.md):');
  let section = '';
  for (const difference of differences) {
    if (difference.section !== section) out(`  ${difference.section}`);
    section = difference.section;
    const kong = difference.kong === '' ? '' : ` Kong: ${difference.kong}.`;
    out(`    - ${difference.topic}.${kong} Here: ${difference.sluicegate || difference.why}.`);
    out(`      ${namesOf(difference.entities)}`);
  }
  out('');
}

function namesOf(entities: readonly string[]): string {
  const more = entities.length - maxNames;
  return entities.slice(0, maxNames).join(', ') + (more > 0 ? `, and ${more} more` : '');
}

function printLeftOut(report: ImportReport, out: (line: string) => void): void {
  out('Not carried over:');
  for (const one of report.leftOut) {
    out(`  - ${one.what}: ${one.why}`);
    out(`    ${one.todo}${choiceOf(one)}`);
  }
  out('');
  const open = unaccepted(report);
  if (open.length > 0) out(`Nothing is written until you accept these losses: ${acceptAll(open)}`);
}

function choiceOf({ accepted, choices: [choice] }: LeftOut): string {
  return accepted || choice === undefined ? '' : ` (--without ${quoted(choice)})`;
}

/** The options that accept all of it. */
export function acceptAll(losses: readonly LeftOut[]): string {
  const choices = new Set(losses.flatMap(({ choices: [choice] }) => choice ?? []));
  return [...choices].map((choice) => `--without ${quoted(choice)}`).join(' ');
}

function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${printable(text).replaceAll("'", `'\\''`)}'`;
}

function writtenLine({ to, changes }: WrittenTo): string {
  if (changes === null) return `written: ${to}`;
  const { created, updated, deleted, unchanged } = changes;
  return `${to}: ${created} created, ${updated} updated, ${deleted} deleted, ${unchanged} unchanged`;
}
