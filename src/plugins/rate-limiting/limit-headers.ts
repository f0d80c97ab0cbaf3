import type { ResponseHeadEdit, WindowLimit, WindowState, WindowVerdict } from '../../plugin-sdk/index.ts';

/** Kong's headers for each window, and the IETF draft's for the one that has least left. */
export class LimitHeaders {
  readonly #names: readonly { readonly limit: string; readonly remaining: string }[];

  constructor(limits: readonly WindowLimit[]) {
    this.#names = limits.map(({ period }) => {
      const name = `${period[0]?.toUpperCase()}${period.slice(1)}`;
      return { limit: `X-RateLimit-Limit-${name}`, remaining: `X-RateLimit-Remaining-${name}` };
    });
  }

  write(response: ResponseHeadEdit, { windows }: WindowVerdict): void {
    for (let at = 0; at < windows.length; at++) {
      const { limit, remaining } = windows[at]!;
      const names = this.#names[at]!;
      response.setHeader(names.limit, String(limit));
      response.setHeader(names.remaining, String(remaining));
    }
    const tightest = tightestOf(windows);
    response.setHeader('RateLimit-Limit', String(tightest.limit));
    response.setHeader('RateLimit-Remaining', String(tightest.remaining));
    response.setHeader('RateLimit-Reset', String(tightest.reset));
  }

  /** The same as `RateLimit-Reset` of a refusal. */
  secondsUntilRoom({ windows }: WindowVerdict): number {
    return tightestOf(windows).reset;
  }
}

/** Of two that have equally little left, the longer one: it keeps the client waiting longer. */
function tightestOf(windows: readonly WindowState[]): WindowState {
  let tightest = windows[0]!;
  for (let at = 1; at < windows.length; at++) {
    const window = windows[at]!;
    if (window.remaining <= tightest.remaining) tightest = window;
  }
  return tightest;
}
