import type { Page, Route } from 'playwright-core';
import type { DashboardPage } from '../support/dashboard.ts';

export interface FedOverview {
  /** Lets so many seconds of the page pass; in each of them several seconds of traffic arrive. */
  pass(seconds: number): Promise<void>;
  /** Renderings of the plots so far. */
  renderings(): Promise<number>;
}

/** Looks at the objects. */
const samples = 3;
/** Seconds of traffic that arrive at once. */
const batch = 10;

/** Answers `/overview/live` in place of the gateway, and controls the clock of the page. Call it before the page is opened. */
export async function feedOverview(page: Page): Promise<FedOverview> {
  let time = Math.floor(Date.now() / 1000) - 400;
  let waiting: (() => void) | null = null;
  await page.clock.install();
  await page.addInitScript(`
    globalThis.renderings = 0;
    new MutationObserver((changes) => {
      if (changes.some(({ target }) => target.className === 'ov-plot')) renderings++;
    }).observe(document, { subtree: true, attributes: true, attributeFilter: ['aria-label'] });
  `);
  await page.route('**/api/overview/live*', async (route: Route) => {
    const events = Array.from({ length: batch }, () => secondEvent(++time));
    await route.fulfill({ contentType: 'text/event-stream', body: events.join('') });
    waiting?.();
  });
  return {
    async pass(seconds) {
      for (let at = 0; at < seconds; at++) {
        const fed = new Promise<void>((resolve) => {
          waiting = resolve;
        });
        // The page connects again half a second after its stream has ended.
        await page.clock.runFor(1_000);
        await fed;
      }
    },
    renderings: () => page.evaluate<number>('renderings'),
  };
}

export interface LiveObjects {
  /** Plain objects and arrays. */
  readonly objects: number;
  /** Elements of all arrays. */
  readonly elements: number;
}

/**
 * What the scripts of the page hold, after everything that is not used has been collected. Bytes would include the code that the browser
 * compiles while it runs. It hides the page meanwhile.
 */
export async function liveObjects({ context, page }: DashboardPage): Promise<LiveObjects> {
  const session = await context.newCDPSession(page);
  const ask = async (prototype: string, body: string): Promise<number> => {
    const { result } = await session.send('Runtime.evaluate', { expression: `${prototype}.prototype` });
    const { objects } = await session.send('Runtime.queryObjects', { prototypeObjectId: result.objectId ?? '' });
    const { result: answer } = await session.send('Runtime.callFunctionOn', {
      objectId: objects.objectId ?? '',
      functionDeclaration: `function () { return ${body}; }`,
    });
    return Number(answer.value);
  };
  // A hidden page reads nothing, so nothing is on its way after some looks.
  await setHidden(page, true);
  const found = { objects: Number.POSITIVE_INFINITY, elements: Number.POSITIVE_INFINITY };
  for (let at = 0; at < samples; at++) {
    const objects = (await ask('Object', 'this.length')) + (await ask('Array', 'this.length'));
    const elements = await ask('Array', 'this.reduce((sum, one) => one === this ? sum : sum + one.length, 0)');
    found.objects = Math.min(found.objects, objects);
    found.elements = Math.min(found.elements, elements);
  }
  await setHidden(page, false);
  await session.detach();
  return found;
}

/** As if the user had changed to another tab, or back. */
export async function setHidden(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate(
    `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
     Object.defineProperty(document, 'visibilityState', { value: '${hidden ? 'hidden' : 'visible'}', configurable: true });
     document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`,
  );
}

function secondEvent(time: number): string {
  const requests = 100 + (time % 37);
  const second = {
    ...{ time, seconds: 1, requests, requests_per_second: requests },
    errors: { '4xx': time % 5, '5xx': time % 3 },
    errors_per_second: (time % 5) + (time % 3),
    statuses: { '1xx': 0, '2xx': requests, '3xx': 0, '4xx': time % 5, '5xx': time % 3 },
    latency: { p50: 1 + (time % 7), p90: 10 + (time % 11), p99: 20 + (time % 13) },
    ...{ bytes_in: 1_000, bytes_out: 10_000, bad_requests: 0, shed_requests: 0, retries: 0, backend_failures: 0 },
    ...{ connections_accepted: 1, in_flight: 3, connections: 5 },
  };
  return `event: second\ndata: ${JSON.stringify(second)}\n\n`;
}
