import type { FetchedDocument } from '../../plugin-kit/net/index.ts';

const prefix = 'urn:ietf:params:acme:error:';

/** The authority refuses a request, or its response is invalid. The message may be logged and shown. */
export class AcmeProblem extends Error {
  /** The last part of RFC 8555's error types: `rateLimited`, `unauthorized`, `malformed`. */
  readonly type: string;
  /** `Retry-After` of the server in seconds; null: absent. */
  readonly retryAfter: number | null;

  constructor(type: string, detail: string, retryAfter: number | null = null) {
    super(`${shortText(type)}: ${shortText(detail)}`);
    this.name = 'AcmeProblem';
    this.type = type;
    this.retryAfter = retryAfter;
  }

  is(type: string): boolean {
    return this.type === type;
  }
}

/** The problem document of a refused call (RFC 7807). */
export function problemOf({ status, headers, body }: FetchedDocument): AcmeProblem {
  const seconds = Number(headers['retry-after']);
  return problemIn(parsed(body), `status ${status}`, Number.isFinite(seconds) && seconds > 0 ? seconds : null);
}

/** The problem in a JSON object: the body of a refusal, or the `error` of a challenge. */
export function problemIn(value: unknown, fallback: string, retryAfter: number | null = null): AcmeProblem {
  const { type, detail } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const name = typeof type === 'string' && type.startsWith(prefix) ? type.slice(prefix.length) : 'refused';
  return new AcmeProblem(name, typeof detail === 'string' ? detail : fallback, retryAfter);
}

/** Makes a text of another party fit for a log: one short line. */
export function shortText(text: string): string {
  const line = text.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ');
  return line.length > 300 ? `${line.slice(0, 300)}...` : line;
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}
