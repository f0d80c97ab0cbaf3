import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withFile } from '../../shared/util/files/file-error.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The id of this node: the setting, or one created at the first start and stored in the prefix. */
export function nodeIdOf(prefix: string, setting: string | null): string {
  if (setting !== null) return setting;
  const path = join(prefix, 'node_id');
  const stored = readStored(path);
  if (stored !== null && uuid.test(stored)) return stored;
  const id = randomUUID();
  withFile('cannot write the node id', path, () => writeFileSync(path, `${id}\n`, { mode: 0o600 }));
  return id;
}

function readStored(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return null;
  }
}
