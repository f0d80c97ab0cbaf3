import type { CodeProblem } from '../../shared/development/code-problem.ts';
import { withoutVersions } from '../../shared/plugin-loader/code/version-url.ts';
import type { TrafficEntry } from '../../shared/traffic/traffic-record.ts';
import { type Look, painted, piece } from '../explain/layout.ts';

/** Lines of `sluicegate dev`. What clients sent cannot control the terminal. */

const indent = ' '.repeat(10);
/** Lines of a stack that are shown. */
const maxFrames = 12;
/** Characters of a log line's fields. */
const maxFields = 2000;

/** `14:03:22`, in the time of the person at the terminal. */
export function timeOf(at: Date): string {
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}

export function requestLine({ at, method, path, status, duration, by, who, reason }: TrafficEntry, colours: boolean) {
  const note = noteOf(by, who, reason);
  const parts = [
    piece(timeOf(new Date(at)), 'dim'),
    piece(method),
    piece(path, 'strong'),
    piece(String(status), lookOf(status)),
    piece(`${duration < 10 ? duration.toFixed(1) : Math.round(duration)} ms`, 'dim'),
    ...(note === '' ? [] : [piece(note, status >= 500 ? 'bad' : 'plain')]),
  ];
  return parts.map((part) => painted(part, colours)).join('  ');
}

function noteOf(by: TrafficEntry['by'], who: string | null, reason: string | null): string {
  if (by === 'plugin') return `${who ?? 'a plugin'} answered`;
  return reason ?? '';
}

export interface Reloaded {
  readonly plugins: readonly string[];
  readonly milliseconds: number;
  /** As a person at the terminal would write them. */
  readonly files: readonly string[];
}

/** `14:03:25  reloaded my-policy in 43 ms (handler.ts)`. */
export function reloadedLine({ plugins, milliseconds, files }: Reloaded, at: Date, colours: boolean): string {
  const shown = files.length > 3 ? [...files.slice(0, 3), `${files.length - 3} more`] : files;
  const text = `reloaded ${plugins.join(', ')} in ${Math.round(milliseconds)} ms (${shown.join(', ')})`;
  return `${painted(piece(timeOf(at), 'dim'), colours)}  ${painted(piece(text, 'good'), colours)}`;
}

/** What is wrong, where, and the source line; then `stack`, if there is one. */
export function problemLines(problem: CodeProblem, stack: readonly string[], at: Date, colours: boolean) {
  const { plugin, title, message, place, excerpt } = problem;
  const paint = (text: string, look: Look): string => painted(piece(text, look), colours);
  const lines = [`${paint(timeOf(at), 'dim')}  ${paint(`${plugin}: ${title}`, 'bad')}`];
  for (const line of message.split('\n')) lines.push(indent + paint(line, 'strong'));
  if (place !== null) lines.push(indent + paint(place, 'plain'));
  if (excerpt !== null) lines.push(...excerptLines(excerpt, place, paint));
  for (const frame of stack.slice(0, maxFrames)) lines.push(indent + paint(frame.trim(), 'dim'));
  return lines;
}

function excerptLines(excerpt: string, place: string | null, paint: (text: string, look: Look) => string) {
  const [source = '', mark = ''] = excerpt.split('\n').map((line) => line.replaceAll('\t', '  '));
  const number = /:(\d+):\d+$/.exec(place ?? '')?.[1] ?? '';
  return [
    `${indent}  ${paint(`${number} |`, 'dim')} ${paint(source, 'plain')}`,
    `${indent}  ${paint(`${' '.repeat(number.length)} |`, 'dim')} ${paint(mark, 'bad')}`,
  ];
}

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

const hiddenFields: ReadonlySet<string> = new Set([
  'plugin_instance',
  'plugin',
  'request_id',
  'err',
  'error',
  'stack',
  'at',
]);

/** A line of an error log: `14:03:25  warn  my-policy: the list is empty  list=blocked`, then the stack of an error. */
export function logLines({ level, message, fields }: LogLine, at: Date, colours: boolean): readonly string[] {
  const { plugin } = fields;
  const others = Object.entries(fields).filter(([name]) => !hiddenFields.has(name));
  const shown = others.map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const text = typeof plugin === 'string' ? `${plugin}: ${message}` : message;
  const parts = [
    painted(piece(timeOf(at), 'dim'), colours),
    painted(piece(level, levelLook(level)), colours),
    painted(piece(text), colours),
    ...(shown.length === 0 ? [] : [painted(piece(shown.join('  ').slice(0, maxFields), 'dim'), colours)]),
  ];
  const stack = textOfError(fields['error'] ?? fields['err']);
  return [
    parts.join('  '),
    ...stack
      .split('\n')
      .filter(Boolean)
      .map((line) => indent + painted(piece(line), colours)),
  ];
}

/** The stack of what a log line has as its error; '': none. */
export function textOfError(error: unknown): string {
  return withoutVersions(stackOf(error));
}

function stackOf(error: unknown): string {
  if (typeof error === 'string') return error;
  if (typeof error !== 'object' || error === null) return '';
  const { stack, message } = error as { readonly stack?: unknown; readonly message?: unknown };
  return typeof stack === 'string' ? stack : typeof message === 'string' ? message : '';
}

function levelLook(level: string): Look {
  if (level === 'debug' || level === 'info' || level === 'notice') return 'dim';
  return level === 'warn' ? 'warning' : 'bad';
}

function lookOf(status: number): Look {
  if (status >= 500) return 'bad';
  return status >= 400 ? 'warning' : 'good';
}
