import type { PluginLogger } from '../../plugin-sdk/tools.ts';
import { severities } from '../../shared/logs/severities.ts';
import type { FromWorker } from '../../shared/messages/messages.ts';
import { withoutVersions } from '../../shared/plugin-loader/code/version-url.ts';
import { failureFields } from '../../shared/plugin-loader/failure-fields.ts';
import type { LogLevel } from '../../shared/settings/settings.ts';
import { Counter } from '../../shared/zones/counters.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Maximum messages in transit to the control plane; while it is blocked, further ones are dropped and counted. */
const maxInTransit = 1000;

/** A worker's error log: the control plane writes the lines, so that a file has one writer. */
export class WorkerLog implements PluginLogger {
  level: LogLevel;
  readonly #counters: Float64Array;
  readonly #post: (message: FromWorker) => void;

  constructor(level: LogLevel, counters: Float64Array, post: (message: FromWorker) => void) {
    this.level = level;
    this.#counters = counters;
    this.#post = post;
  }

  debug(message: string, fields: Fields = {}): void {
    this.#write('debug', message, fields);
  }

  info(message: string, fields: Fields = {}): void {
    this.#write('info', message, fields);
  }

  warn(message: string, fields: Fields = {}): void {
    this.#write('warn', message, fields);
  }

  error(message: string, fields: Fields = {}): void {
    this.#write('error', message, fields);
  }

  #write(level: LogLevel, message: string, fields: Fields): void {
    if (severities[level] < severities[this.level]) return;
    const counters = this.#counters;
    if (counters[Counter.logPosted]! - counters[Counter.logTaken]! >= maxInTransit) {
      counters[Counter.logDropped]!++;
      return;
    }
    counters[Counter.logPosted]!++;
    this.#post({ type: 'log', level, message: sendableText(message), fields: sendable(fields) });
  }
}

function sendableText(message: unknown): string {
  return typeof message === 'string' ? message : String(sendableValue(message));
}

/** Plugins log any value; what cannot be sent between threads is sent as text. Errors keep their stack. */
function sendable(fields: Fields): Fields {
  try {
    return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, sendableValue(value)] as const));
  } catch {
    return { fields: 'cannot be read' };
  }
}

function sendableValue(value: unknown): unknown {
  if (typeof value === 'string') return withoutVersions(value);
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'symbol' || typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  try {
    if (value instanceof Error) return withoutVersions(failureFields(value).error);
    return JSON.parse(JSON.stringify(value)) as unknown;
  } catch {
    return 'cannot be read';
  }
}
