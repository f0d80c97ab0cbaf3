import { setTimeout as delay } from 'node:timers/promises';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';
import { settingsOf } from '../settings-of.ts';
import { isRunning, type NodeProcessId, runningNode } from './pid-file.ts';

export interface RunningNode extends NodeProcessId {
  readonly prefix: string;
}

/** The node that runs in the prefix of the settings; an error when there is none. */
export function findRunningNode(context: CommandContext, advice = ''): RunningNode {
  const { prefix } = settingsOf(context).settings;
  const node = runningNode(prefix);
  if (node === null) throw new CliError(`Sluicegate is not running in ${prefix}${advice}`);
  return { ...node, prefix };
}

const pollInterval = 25;
const lastWait = 5000;

/** Stops the node; repeats SIGTERM after `timeout` milliseconds. */
export async function endNode(node: NodeProcessId, signal: 'SIGTERM' | 'SIGQUIT', timeout: number): Promise<void> {
  send(node, signal);
  if (await hasEnded(node, timeout)) return;
  send(node, 'SIGTERM');
  if (await hasEnded(node, lastWait)) return;
  throw new CliError(`process ${node.pid} did not end`);
}

export function send(node: NodeProcessId, signal: NodeJS.Signals): void {
  // The pid may belong to another process by now.
  if (!isRunning(node)) return;
  try {
    process.kill(node.pid, signal);
  } catch (error) {
    if (isRunning(node)) {
      throw new CliError(`cannot signal process ${node.pid}: ${error instanceof Error ? error.message : error}`);
    }
  }
}

/** The option's value in milliseconds. */
export function secondsOption(context: CommandContext, name: string, fallback: number): number {
  const text = context.arguments.options[name];
  if (text === undefined) return fallback * 1000;
  if (typeof text !== 'string' || !/^\d{1,6}(?:\.\d{1,3})?$/.test(text)) {
    throw new CliError(`--${name} is not a number of seconds: '${text}'`);
  }
  return Number(text) * 1000;
}

async function hasEnded(node: NodeProcessId, timeout: number): Promise<boolean> {
  const end = performance.now() + timeout;
  while (isRunning(node)) {
    if (performance.now() >= end) return false;
    await delay(pollInterval);
  }
  return true;
}
