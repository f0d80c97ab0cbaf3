import type { HeaderNames, ResponseHeadEdit, WindowLimit, WindowState, WindowVerdict } from '../../plugin-sdk/index.ts';
import { headerNames } from '../../plugin-sdk/index.ts';

/** Kong's headers for each window, and the IETF draft's for the window with the least remaining. */
export class LimitHeaders {
  readonly #names: HeaderNames;
  readonly #limits: readonly string[];

  constructor(limits: readonly WindowLimit[]) {
    const own = limits.flatMap(({ period }) => {
      const name = `${period[0]?.toUpperCase()}${period.slice(1)}`;
      return [`X-RateLimit-Limit-${name}`, `X-RateLimit-Remaining-${name}`];
    });
    this.#names = headerNames([...own, 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']);
    this.#limits = limits.map(({ limit }) => String(limit));
  }

  write(response: ResponseHeadEdit, { windows }: WindowVerdict): void {
    const values: string[] = [];
    const tightest = tightestOf(windows);
    let least = '';
    for (let at = 0; at < windows.length; at++) {
      const remaining = String(windows[at]!.remaining);
      values.push(this.#limits[at]!, remaining);
      if (at === tightest) least = remaining;
    }
    values.push(this.#limits[tightest]!, least, String(windows[tightest]!.reset));
    response.setHeaders(this.#names, values);
  }

  /** The same as `RateLimit-Reset` of a refusal. */
  secondsUntilRoom({ windows }: WindowVerdict): number {
    return windows[tightestOf(windows)]!.reset;
  }
}

/** Index of the window with the least remaining. Of equal ones, the longer window, which takes longer to reset. */
function tightestOf(windows: readonly WindowState[]): number {
  let tightest = 0;
  for (let at = 1; at < windows.length; at++) {
    if (windows[at]!.remaining <= windows[tightest]!.remaining) tightest = at;
  }
  return tightest;
}
