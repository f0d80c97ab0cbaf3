import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isJsonObject, type JsonValue } from '../../plugin-kit/json/json.ts';
import { CliError } from '../cli-error.ts';
import { isRunning, type NodeProcessId } from './pid-file.ts';

export type ControlAction = 'reload' | 'upgrade';

/** What came of a signal: a command that sends one cannot see it otherwise. */
export interface Outcome {
  /** Increases with each action of the prefix. */
  readonly serial: number;
  readonly ok: boolean;
  /** What the command prints. */
  readonly lines: readonly string[];
}

/** Records the outcome of an action in the prefix. Failures are ignored: the outcome is in the log, too. */
export function writeOutcome(prefix: string, action: ControlAction, ok: boolean, lines: readonly string[]): void {
  const path = pathOf(prefix, action);
  const outcome: Outcome = { serial: (readOutcome(prefix, action)?.serial ?? 0) + 1, ok, lines };
  try {
    const draft = `${path}.${process.pid}`;
    writeFileSync(draft, `${JSON.stringify(outcome)}\n`, { mode: 0o600 });
    renameSync(draft, path);
  } catch {
    // The command says that it has no answer.
  }
}

/** The last outcome; null: none, or it is unreadable. */
export function readOutcome(prefix: string, action: ControlAction): Outcome | null {
  try {
    const value: JsonValue = JSON.parse(readFileSync(pathOf(prefix, action), 'utf8'));
    if (!isJsonObject(value)) return null;
    const { serial, ok, lines } = value;
    if (typeof serial !== 'number' || typeof ok !== 'boolean' || !Array.isArray(lines)) return null;
    return { serial, ok, lines: lines.map(String) };
  } catch {
    return null;
  }
}

const pollInterval = 25;

/** Waits for an outcome later than `before`, at most `timeout` milliseconds. Rejects when the node ends first. */
export async function awaitOutcome(
  prefix: string,
  action: ControlAction,
  before: Outcome | null,
  node: NodeProcessId,
  timeout: number,
): Promise<Outcome> {
  const end = performance.now() + timeout;
  for (;;) {
    const running = isRunning(node);
    const outcome = readOutcome(prefix, action);
    if (outcome !== null && outcome.serial !== before?.serial) return outcome;
    if (!running) throw new CliError(`process ${node.pid} ended before the ${action} was done`);
    if (performance.now() >= end) throw new CliError(`process ${node.pid} does not report an outcome; see its log`);
    await delay(pollInterval);
  }
}

function pathOf(prefix: string, action: ControlAction): string {
  return join(prefix, 'pids', `${action}.json`);
}
