import { Session } from 'node:inspector';
import { collectGarbage } from '../../shared/util/process/collect-when-idle.ts';

/** The gateway's own code, without the plugins that come with it: a leak in a plugin begins elsewhere. */
const root = new URL('../../', import.meta.url).href;

function isOwn(url: string): boolean {
  return !url.startsWith('file:') || (url.startsWith(root) && !url.startsWith(`${root}plugins/`));
}

/** The first frame of a stack that is not the gateway's own: `function (file:line:column)`. */
export function placeInStack(stack: string): string | null {
  for (const line of stack.split('\n')) {
    const match = /^\s+at (?:(.*?) \()?(file:.*?):(\d+):(\d+)\)?$/.exec(line);
    if (match === null || isOwn(match[2] as string)) continue;
    return `${match[1] ?? '(anonymous)'} (${shortened(match[2] as string)}:${match[3]}:${match[4]})`;
  }
  return null;
}

interface ProfileNode {
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
    readonly columnNumber: number;
  };
  readonly selfSize: number;
  readonly children: readonly ProfileNode[];
}

/** Bytes between two samples. */
const samplingInterval = 128;

/** The function of a plugin that has made most of what a piece of work has left behind; null: none has. */
export async function allocationPlace(work: () => Promise<void>): Promise<string | null> {
  const session = new Session();
  session.connect();
  try {
    const post = (method: string, parameters = {}): Promise<unknown> =>
      new Promise((resolve, reject) => {
        session.post(method, parameters, (error: Error | null, result?: unknown) =>
          error === null ? resolve(result) : reject(error),
        );
      });
    await post('HeapProfiler.startSampling', { samplingInterval });
    await work();
    collectGarbage('regular');
    collectGarbage('regular');
    const { profile } = (await post('HeapProfiler.stopSampling')) as { profile: { head: ProfileNode } };
    const bytes = new Map<string, number>();
    sum(profile.head, null, bytes);
    const [most] = [...bytes].sort(([, a], [, b]) => b - a);
    return most?.[0] ?? null;
  } catch {
    // Another tool may use the profiler: the leak is reported without a place.
    return null;
  } finally {
    session.disconnect();
  }
}

/** Adds the bytes of a node and of those below it to the nearest function of a plugin. */
function sum(node: ProfileNode, above: string | null, bytes: Map<string, number>): void {
  const { functionName, url, lineNumber, columnNumber } = node.callFrame;
  const place = isOwn(url)
    ? above
    : `${functionName === '' ? '(anonymous)' : functionName} (${shortened(url)}:${lineNumber + 1}:${columnNumber + 1})`;
  if (place !== null && node.selfSize > 0) bytes.set(place, (bytes.get(place) ?? 0) + node.selfSize);
  for (const child of node.children) sum(child, place, bytes);
}

/** A path, without what the loader adds to it. */
function shortened(url: string): string {
  return decodeURIComponent(url.replace(/^file:\/\//, '').replace(/\?.*$/, ''));
}
