import { quoted } from '../../components/shell-word.ts';
import type { PlannedWrite } from '../planned-write.ts';

export interface CodeOptions {
  /** Address of the Admin API, without a trailing slash. */
  readonly address: string;
  /** The Admin API requires a token. It is never part of the text. */
  readonly signed: boolean;
}

/** Commands for a POSIX shell, one for each write. */
export function curlText(writes: readonly PlannedWrite[], options: CodeOptions): string {
  return writes.map((write) => commandOf(write, options)).join('\n\n');
}

function commandOf({ method, path, body }: PlannedWrite, { address, signed }: CodeOptions): string {
  const parts = [`curl --fail-with-body -X ${method} ${quoted(`${address}${path}`)}`];
  if (signed) parts.push('-H "Authorization: Bearer $SLUICEGATE_TOKEN"');
  if (body !== undefined) {
    parts.push("-H 'Content-Type: application/json'", `--data-binary ${quoted(JSON.stringify(body, null, 2))}`);
  }
  return parts.join(' \\\n  ');
}
