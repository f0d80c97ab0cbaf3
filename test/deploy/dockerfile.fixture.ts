import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { chown, mkdir } from 'node:fs/promises';
import { basename, join, matchesGlob } from 'node:path';
import { promisify } from 'node:util';
import { findFiles, root } from '../../scripts/lib/files.ts';
import { copyFiles } from '../package/source-copy.ts';
import { startContainer } from '../support/namespace-container.ts';

const run = promisify(execFile);

/** One instruction of a Dockerfile, its continued lines joined. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

export interface Stage {
  readonly from: string;
  readonly name: string;
  readonly instructions: readonly Instruction[];
}

export function readStages(text: string): readonly Stage[] {
  const joined = text.replace(/^\s*#.*\n/gm, '').replace(/\\\n\s*/g, '');
  const stages: { from: string; name: string; instructions: Instruction[] }[] = [];
  for (const line of joined.split('\n').filter((one) => one.trim() !== '')) {
    const [, name = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line.trim()) ?? [];
    const [, from = '', stage = ''] = /^(?:--\S+\s+)?(\S+)(?:\s+AS\s+(\S+))?$/.exec(rest) ?? [];
    if (name === 'FROM') stages.push({ from, name: stage, instructions: [] });
    else stages.at(-1)?.instructions.push({ name, text: rest });
  }
  return stages;
}

/** What the last stage says about containers made of the image. */
export interface ImageConfig {
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly workdir: string;
  readonly ports: readonly number[];
  readonly volumes: readonly string[];
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly health: readonly string[];
}

export function imageConfig({ instructions }: Stage): ImageConfig {
  const all = (name: string): readonly string[] =>
    instructions.filter((one) => one.name === name).map((one) => one.text);
  const last = (name: string): string => all(name).at(-1) ?? '';
  const json = (text: string): readonly string[] => (text === '' ? [] : JSON.parse(text.slice(text.indexOf('['))));
  const pairs = all('ENV').flatMap((text) => [...text.matchAll(/([A-Z0-9_]+)=(?:"([^"]*)"|(\S+))/g)]);
  return {
    env: Object.fromEntries(pairs.map(([, name = '', quoted, plain]) => [name, quoted ?? plain ?? ''])),
    user: last('USER'),
    workdir: last('WORKDIR'),
    ports: all('EXPOSE').flatMap((text) => text.split(' ').map(Number)),
    volumes: all('VOLUME').flatMap((text) => text.split(' ')),
    entrypoint: json(last('ENTRYPOINT')),
    command: json(last('CMD')),
    health: json(last('HEALTHCHECK')),
  };
}

/** The files that a `.dockerignore` lets into the build; the last matching pattern decides. */
export function contextFiles(ignore: string): readonly string[] {
  const rules = ignore.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const allowed = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1));
  const candidates = findFiles(...allowed.flatMap((name) => [name, `${name}/**/*`]));
  return candidates.filter((file) => {
    if (!statSync(join(root, file)).isFile()) return false;
    const parents = file.split('/').map((_, at, parts) => parts.slice(0, at + 1).join('/'));
    const matching = rules.filter((rule) => parents.some((part) => matchesGlob(part, rule.replace(/^!/, ''))));
    return matching.at(-1)?.startsWith('!') ?? true;
  });
}

/** The first stage, run for real: its COPY from the context, and its RUN in a container. Returns the changed files. */
export async function runBuildStage(
  { instructions }: Stage,
  layers: readonly string[],
  folder: string,
): Promise<string> {
  const changes = join(folder, 'build');
  const upper = join(changes, 'upper');
  let workdir = '/';
  for (const { name, text } of instructions) {
    if (name === 'WORKDIR') workdir = text;
    else if (name === 'COPY') copyContext(text, join(upper, workdir));
    else if (name === 'RUN') await runIn(text, { layers, changes, workdir });
    else throw new Error(`the test does not know ${name} in the first stage`);
  }
  return upper;
}

async function runIn(
  command: string,
  where: { layers: readonly string[]; changes: string; workdir: string },
): Promise<void> {
  // Packages that were installed before come from npm's cache.
  const cache = join(process.env['HOME'] ?? '/root', '.npm');
  await mkdir(cache, { recursive: true });
  await using container = await startContainer({
    ...where,
    command: ['sh', '-c', command],
    env: { npm_config_cache: cache, npm_config_prefer_offline: 'true', npm_config_update_notifier: 'false' },
    volumes: { [cache]: cache },
    network: true,
  });
  const code = await container.exit;
  if (code !== 0) throw new Error(`RUN ${command} ended with ${code}:\n${container.output()}`);
}

function copyContext(text: string, target: string): void {
  const words = text.split(' ');
  const files = contextFiles(readFileSync(join(root, '.dockerignore'), 'utf8'));
  const wanted = words.slice(0, -1);
  copyFiles(wanted.includes('.') ? files : files.filter((one) => wanted.includes(one)), target);
}

/** The layer of the last stage: what its COPY instructions take from the stage before. It may contain nothing else that writes. */
export async function copyStage({ instructions }: Stage, built: string, folder: string): Promise<string> {
  const layer = join(folder, 'image');
  for (const { name, text } of instructions) {
    if (name === 'RUN') throw new Error('RUN in the last stage needs emulation for other architectures');
    if (name !== 'COPY') continue;
    const [, , owner = '0:0', from = '', to = ''] =
      /^--from=(\S+)\s+(?:--chown=(\S+)\s+)?(\S+)\s+(\S+)$/.exec(text) ?? [];
    await mkdir(join(layer, to), { recursive: true });
    await run('cp', ['--archive', `${join(built, from)}/.`, join(layer, to)]);
    const [uid = 0, gid = 0] = owner.split(':').map(Number);
    for (const child of findChildren(join(built, from))) await chown(join(layer, to, child), uid, gid);
  }
  return layer;
}

function findChildren(folder: string): readonly string[] {
  return findFiles(`${folder}/*`).map((path) => basename(path));
}
