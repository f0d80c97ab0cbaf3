import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withFile } from '../util/file-error.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The id of this node: the setting, or one made at the first start and kept under the prefix. */
export function nodeIdOf(prefix: string, setting: string | null): string {
  if (setting !== null) return setting;
  const path = join(prefix, 'node_id');
  const kept = readKept(path);
  if (kept !== null && uuid.test(kept)) return kept;
  const id = randomUUID();
  withFile('cannot write the node id', path, () => writeFileSync(path, `${id}\n`, { mode: 0o600 }));
  return id;
}

function readKept(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return null;
  }
}
