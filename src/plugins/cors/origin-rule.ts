import { compileRegex } from '../../plugin-kit/runtime/index.ts';

/** The value of `Access-Control-Allow-Origin` for one request. */
export interface OriginDecision {
  /** Null: the origin is not allowed, and the header is removed. */
  readonly allow: string | null;
  /** Any origin may pass. */
  readonly all: boolean;
  /** The response depends on the origin, so `Vary` must say so. */
  readonly vary: boolean;
}

/** Decides for the value of the request's `Origin` header, null when it has none. */
export type OriginRule = (origin: string | null) => OriginDecision;

type Matcher = (origin: NormalOrigin) => boolean;

interface NormalOrigin {
  readonly origin: string;
  readonly host: string;
}

const plain = /^[A-Za-z0-9.:/-]+$/;
const anyOrigin: OriginDecision = Object.freeze({ allow: '*', all: true, vary: false });
const anyOfList: OriginDecision = Object.freeze({ allow: '*', all: true, vary: true });
const refused: OriginDecision = Object.freeze({ allow: null, all: false, vary: true });

export function originRule(origins: readonly string[] | null): OriginRule {
  const list = origins ?? [];
  const only = list.length === 1 ? list[0] : undefined;
  if (list.length === 0 || only === '*') return () => anyOrigin;
  if (only !== undefined && plain.test(only)) {
    // Kong always sends a single configured origin; the browser compares it.
    const fixed: OriginDecision = Object.freeze({ allow: only, all: false, vary: true });
    return () => fixed;
  }
  if (list.includes('*')) return (origin) => (origin === null ? refused : anyOfList);
  const matchers = list.map(matcherOf);
  return (origin) => {
    if (origin === null) return refused;
    const candidate = normalise(origin);
    return matchers.some((matches) => matches(candidate))
      ? { allow: candidate.origin, all: false, vary: true }
      : refused;
  };
}

function matcherOf(entry: string): Matcher {
  if (plain.test(entry)) {
    const { origin } = normalise(entry);
    return (candidate) => candidate.origin === origin;
  }
  const whole = compileRegex(`^(?:${entry})$`);
  return entry.includes(':') ? (candidate) => whole.test(candidate.origin) : (candidate) => whole.test(candidate.host);
}

/** Removes parts that an origin does not have, and the scheme's default port. Other texts stay unchanged. */
function normalise(text: string): NormalOrigin {
  const parts = /^(?:([A-Za-z0-9][A-Za-z0-9+.-]*):)?\/\/(?:[^/?#@]*@)?(\[[^\]/?#]*\]|[^:/?#@]+)(?::([^/?#]*))?/.exec(
    text,
  );
  if (parts === null) return { origin: text, host: text };
  const [, scheme, host = '', port = ''] = parts;
  const usual = (scheme === 'http' && port === '80') || (scheme === 'https' && port === '443');
  return {
    origin: `${scheme === undefined ? '' : `${scheme}://`}${host}${port === '' || usual ? '' : `:${port}`}`,
    host,
  };
}
