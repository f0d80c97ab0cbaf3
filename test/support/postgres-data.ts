import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Who runs the server; empty: who runs the test. */
export interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

export const postgresUser = 'gateway';
export const postgresPassword = 'secret';

const templates = join(import.meta.dirname, '../../.runtime/postgres');

/** Creates the folder `data` of a server. `initdb` takes a second, so it runs once for each version; its result is copied. */
export function createPostgresData(binaries: string, data: string, owner: Owner): void {
  const initdb = join(binaries, 'initdb');
  const version = [initdb, statSync(initdb).mtimeMs, owner.uid].join();
  const template = join(templates, createHash('sha256').update(version).digest('hex').slice(0, 16));
  if (!existsSync(template)) createTemplate(initdb, template, owner);
  execFileSync('cp', ['-a', template, data]);
}

/** Other test files may do the same at the same time; the first template stays. */
function createTemplate(initdb: string, template: string, owner: Owner): void {
  mkdirSync(templates, { recursive: true });
  const directory = mkdtempSync(join(tmpdir(), 'sluicegate-initdb-'));
  const copy = mkdtempSync(`${template}-`);
  try {
    const data = join(directory, 'data');
    runInitdb(initdb, directory, data, owner);
    execFileSync('cp', ['-a', data, join(copy, 'data')]);
    renameSync(join(copy, 'data'), template);
  } catch (error) {
    if (!existsSync(template)) throw error;
  } finally {
    for (const folder of [directory, copy]) rmSync(folder, { recursive: true, force: true });
  }
}

function runInitdb(initdb: string, directory: string, data: string, owner: Owner): void {
  const passwordFile = join(directory, 'password');
  writeFileSync(passwordFile, postgresPassword);
  if (owner.uid !== undefined) {
    for (const path of [directory, passwordFile]) chownSync(path, owner.uid, owner.gid ?? owner.uid);
  }
  const options = ['-A', 'scram-sha-256', '-E', 'UTF8', '--locale', 'C', '--no-sync'];
  execFileSync(initdb, ['-D', data, '-U', postgresUser, '--pwfile', passwordFile, ...options], {
    ...owner,
    cwd: directory,
    stdio: 'pipe',
  });
}
