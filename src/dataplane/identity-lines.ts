import type { ConsumerView, CredentialView } from '../plugin-sdk/request-views.ts';
import { utf8AsLatin1 } from '../util/latin1.ts';
import { headerLine } from './header-edits.ts';

interface Known {
  readonly credential: CredentialView | null;
  readonly lines: string;
}

/** A client goes on with the same credential, so the lines of its last request are those of the next. */
const known = new WeakMap<ConsumerView, Known>();

/**
 * The header lines that tell the backend who the client is. What a client sends under their names never goes on, so
 * they need not replace anything.
 */
export function identityLines(consumer: ConsumerView | null, credential: CredentialView | null): string {
  if (consumer === null) return makeLines(consumer, credential);
  const last = known.get(consumer);
  if (last !== undefined && last.credential === credential) return last.lines;
  const lines = makeLines(consumer, credential);
  known.set(consumer, { credential, lines });
  return lines;
}

function makeLines(consumer: ConsumerView | null, credential: CredentialView | null): string {
  return (
    line('X-Consumer-ID', consumer?.id) +
    line('X-Consumer-Custom-ID', consumer?.customId) +
    line('X-Consumer-Username', consumer?.username) +
    line('X-Credential-Identifier', credential?.identifier) +
    (consumer !== null && credential === null ? 'X-Anonymous-Consumer: true\r\n' : '')
  );
}

const controls = /[\0-\x1f\x7f]/;

/** A name with a line break or another control character is left out: it comes from a token, a certificate or an operator. */
function line(name: string, value: string | null | undefined): string {
  if (value === null || value === undefined || value === '' || controls.test(value)) return '';
  return headerLine(name, utf8AsLatin1(value));
}
