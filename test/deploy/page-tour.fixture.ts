import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/lib/files.ts';
import { startContainer } from '../support/namespace-container.ts';
import { readTourComment, squeeze, tourPattern, withStatus } from '../support/tour-comment.ts';

/** A block fenced as ```sh tour, or ```sh tour network where it needs the network of the machine. */
export interface TourBlock {
  readonly line: number;
  readonly network: boolean;
  readonly commands: readonly string[];
}

export function readTour(page: string): readonly TourBlock[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```sh tour( network)?\n([\s\S]*?)^```/gm)].map((found) => ({
    line: text.slice(0, found.index).split('\n').length,
    network: found[1] !== undefined,
    commands: splitCommands(found[2] ?? ''),
  }));
}

/** A command is a line, or a line with a here-document. */
function splitCommands(block: string): readonly string[] {
  return block.match(/^.*<<'END'\n[\s\S]*?^END$|^(?!#).*\S.*$/gm) ?? [];
}

export interface TourOptions {
  readonly layers: readonly string[];
  /** Folder of the changes that earlier pages made. */
  readonly changes: string;
  readonly volumes: Readonly<Record<string, string>>;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Commands that run first and stay, such as backends. */
  readonly before?: readonly string[];
}

/** Runs the blocks in their order, each as one script; those without network share a container. */
export async function runTour(page: string, options: TourOptions): Promise<void> {
  const blocks = readTour(page);
  assert.notEqual(blocks.length, 0, `${page} has no blocks to run`);
  for (const block of blocks.filter(({ network }) => network)) {
    await using machine = await startContainer({ ...options, network: true, command: ['sleep', '600'] });
    await runBlock(page, block, machine);
  }
  await using machine = await startContainer({ ...options, command: ['sleep', '600'] });
  for (const command of options.before ?? []) await machine.exec(['sh', '-c', `${command} > /dev/null 2>&1 &`]);
  for (const block of blocks.filter(({ network }) => !network)) await runBlock(page, block, machine);
}

const mark = '@@ next command';

type Machine = Awaited<ReturnType<typeof startContainer>>;

async function runBlock(page: string, { line, commands }: TourBlock, machine: Machine): Promise<void> {
  const steps = commands.map(readTourComment);
  const script = steps.map(({ command }) => `echo '${mark}'\n${withStatus(command)}`).join('\n');
  const { code, output } = await machine.exec(['sh', '-ec', script], { timeout: 90_000 });
  assert.equal(code, 0, `${page}:${line} ended with ${code}:\n${output}`);
  const outputs = output.split(`${mark}\n`).slice(1);
  for (const [index, { command, status, expected }] of steps.entries()) {
    const printed = outputs[index] ?? '';
    const found = /\nstatus (\d{3})\n$/.exec(printed)?.[1];
    if (status !== null) assert.equal(Number(found), status, `${page}: ${command}\n${printed}`);
    else if (found !== undefined) assert.ok(Number(found) < 400, `${page}: ${command}\n${printed}`);
    assert.match(squeeze(printed), tourPattern(expected), `${page}: ${command}`);
  }
}
