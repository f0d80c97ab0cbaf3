import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { clusterCertificate } from '../../shared/tls/self-signed.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';

const usage = 'usage: sluicegate hybrid gen_cert [certificate] [key] [-d days]';
const defaultDays = 1095;
const maxDays = 7300;

/** `hybrid gen_cert [certificate] [key]`: writes a new certificate and its key. Existing files are never overwritten. */
export async function hybrid({ arguments: given, cwd, out }: CommandContext): Promise<number> {
  const [what, cert = './cluster.crt', key = './cluster.key', ...rest] = given.positionals;
  if (what !== 'gen_cert' || rest.length > 0) throw new CliError(usage);
  const made = clusterCertificate(daysOf(given.options['days']));
  const [certPath, keyPath] = [resolve(cwd, cert), resolve(cwd, key)];
  writeNew(certPath, made.cert, 0o644);
  try {
    writeNew(keyPath, made.key, 0o600);
  } catch (error) {
    rmSync(certPath);
    throw error;
  }
  out(`Successfully generated certificate/key pairs, they have been written to: '${certPath}' and '${keyPath}'.`);
  return 0;
}

function daysOf(text: string | true | undefined): number {
  if (text === undefined) return defaultDays;
  const days = Number(text);
  if (!/^\d+$/.test(String(text)) || days < 1 || days > maxDays) {
    throw new CliError(`--days must be from 1 to ${maxDays}, not '${text}'`);
  }
  return days;
}

function writeNew(path: string, text: string, mode: number): void {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'wx', mode);
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (exists) throw new CliError(`file already exists: '${path}'`);
    throw new CliError(`cannot write ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  try {
    writeSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}
