import { decodeFormText } from '../../util/bytes/percent-decoding.ts';
import { isSecretArgument, isSecretHeader } from '../masked-arguments.ts';

/** Names of fields in bodies that are credentials as a whole. Lower case, without separators. */
const whole: ReadonlySet<string> = new Set([
  'accesskey',
  'assertion',
  'clientassertion',
  'codeverifier',
  'devicecode',
  'jwt',
  'otp',
  'pass',
  'pin',
  'pw',
  'pwd',
  'session',
  'sessionid',
  'sid',
]);

/** What names of credentials end with: `newPassword`, `client_secret`, `user[password]`. */
const ending =
  /(?:accesskey|apikey|authorization|cookies?|credentials?|passphrase|passw(?:or)?ds?|privatekey|secretkey|secrets?|token)$/;

/** The same words anywhere, for content whose fields cannot be recognised. */
const word =
  /access_?key|api[_-]?key|authorization|cookie|credential|passphrase|passwd|password|private_?key|secret|token/i;

/** A longer name belongs to no credential. Characters. */
export const maxNameLength = 128;

/** Names whose answer is kept. */
const maxKnown = 1_000;

/** Decides which fields of bodies carry credentials. */
export class SecretFields {
  readonly #own: ReadonlySet<string>;
  readonly #normalised: ReadonlySet<string>;
  /** Bodies repeat the names of their fields. */
  readonly #known = new Map<string, boolean>();

  /** `own`: names that plugins declare, in lower case. */
  constructor(own: ReadonlySet<string>) {
    this.#own = own;
    this.#normalised = new Set([...own].map(normalised));
  }

  /** `name`: as it is written in the body, without quotes; escapes of JSON and of forms are resolved. */
  has(name: string): boolean {
    if (name === '' || name.length > maxNameLength) return false;
    let known = this.#known.get(name);
    if (known === undefined) {
      known = this.#isSecret(decodedName(name).toLowerCase());
      if (this.#known.size >= maxKnown) this.#known.clear();
      this.#known.set(name, known);
    }
    return known;
  }

  #isSecret(name: string): boolean {
    if (isSecretArgument(name, this.#own) || isSecretHeader(name, this.#own)) return true;
    const short = normalised(name);
    return whole.has(short) || this.#normalised.has(short) || ending.test(short);
  }

  /** Whether the text contains such a name anywhere. */
  isIn(text: string): boolean {
    if (word.test(text)) return true;
    const lower = text.toLowerCase();
    return [...this.#own].some((name) => lower.includes(name));
  }
}

function normalised(name: string): string {
  return name.replace(/[-_.\s[\]]/g, '').toLowerCase();
}

const jsonEscape = /\\u([0-9a-f]{4})|\\(.)/gi;

/** JSON within a string of JSON is escaped twice. */
const maxEscapes = 4;

function decodedName(name: string): string {
  let plain = name;
  for (let times = 0; times < maxEscapes && plain.includes('\\'); times++) {
    plain = plain.replace(jsonEscape, (_, digits: string | undefined, other: string | undefined) =>
      digits === undefined ? (other ?? '') : String.fromCharCode(Number.parseInt(digits, 16)),
    );
  }
  return decodeFormText(plain);
}
