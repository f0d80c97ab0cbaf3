import { compileRegex } from '../../plugin-sdk/index.ts';

/** What `Access-Control-Allow-Origin` becomes for one request. */
export interface OriginDecision {
  /** Null: the origin is not allowed, and the header must go. */
  readonly allow: string | null;
  /** Any origin may pass. */
  readonly all: boolean;
  /** The answer depends on the origin, so caches must be told. */
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
    // Kong names the only origin there is whoever asks; the browser compares.
    const fixed: OriginDecision = Object.freeze({ allow: only, all: false, vary: true });
    return () => fixed;
  }
  if (list.includes('*')) return (origin) => (origin === null ? refused : anyOfList);
  const matchers = list.map(matcherOf);
  return (origin) => {
    if (origin === null) return refused;
    const asked = normalise(origin);
    return matchers.some((matches) => matches(asked)) ? { allow: asked.origin, all: false, vary: true } : refused;
  };
}

function matcherOf(entry: string): Matcher {
  if (plain.test(entry)) {
    const { origin } = normalise(entry);
    return (asked) => asked.origin === origin;
  }
  const whole = compileRegex(`^(?:${entry})$`);
  return entry.includes(':') ? (asked) => whole.test(asked.origin) : (asked) => whole.test(asked.host);
}

/** Leaves out what an origin does not have and a port that is the scheme's own. What is no URL stays as it is. */
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
