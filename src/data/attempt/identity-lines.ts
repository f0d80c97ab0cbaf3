import type { ConsumerView, CredentialView } from '../../plugin-sdk/request-views.ts';
import { flatText } from '../../shared/util/bytes/flat-text.ts';
import { utf8AsLatin1 } from '../../shared/util/bytes/latin1.ts';
import { headerLine } from '../answer/header-edits.ts';

interface Known {
  readonly credential: CredentialView | null;
  readonly lines: string;
}

/** A client keeps its credential, so the lines of its last request are kept for the next. */
const known = new WeakMap<ConsumerView, Known>();

/**
 * The header lines that identify the client to the backend. Fields of these names from the client are never forwarded, so the
 * lines replace nothing.
 */
export function identityLines(consumer: ConsumerView | null, credential: CredentialView | null): string {
  if (consumer === null) return makeLines(consumer, credential);
  const last = known.get(consumer);
  if (last !== undefined && last.credential === credential) return last.lines;
  const lines = flatText(makeLines(consumer, credential));
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

/** A name with a control character is omitted: it may come from a token, a certificate or an operator. */
function line(name: string, value: string | null | undefined): string {
  if (value === null || value === undefined || value === '' || controls.test(value)) return '';
  return headerLine(name, utf8AsLatin1(value));
}
