import { Session } from 'node:inspector';
import { sourceFile } from '../../shared/plugin-loader/error-place.ts';
import { isPluginCode } from '../../shared/plugin-loader/plugin-origin.ts';

/** Where a thread spends its time. */
export interface BusyPlace {
  /** `function (file:line)`. */
  readonly text: string;
  readonly file: string;
}

interface WorkerMessage {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

interface CallFrame {
  readonly functionName: string;
  readonly location: { readonly scriptId: string; readonly lineNumber: number };
}

interface Attached {
  readonly sessionId: string;
  readonly workerInfo: { readonly title: string };
}

/** Milliseconds until the thread must have stopped, and continued. */
const timeout = 1000;
const disabling = 3;

/**
 * Interrupts a thread that is in a loop, reads its stack, and lets it continue. A profile cannot see the function that a loop has not left
 * since it began to be optimised. Only for a thread that is terminated afterwards: the debugger makes its code slow. Null: it did not stop
 * in time.
 */
export async function pausedPlace(threadId: number): Promise<BusyPlace | null> {
  const session = new Session();
  try {
    session.connect();
    return await readStack(session, threadId);
  } catch {
    return null;
  } finally {
    session.disconnect();
  }
}

function readStack(session: Session, threadId: number): Promise<BusyPlace | null> {
  const urls = new Map<string, string>();
  let place: BusyPlace | null = null;
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(place), timeout);
    let send: (id: number, method: string) => void = () => {};
    const received = ({ id, method, params = {} }: WorkerMessage): void => {
      if (method === 'Debugger.scriptParsed') urls.set(String(params['scriptId']), String(params['url']));
      if (method === 'Debugger.paused') {
        place = placeIn(params['callFrames'] as readonly CallFrame[], urls);
        // A paused thread could not be terminated.
        send(disabling, 'Debugger.disable');
      }
      if (id !== disabling) return;
      clearTimeout(timer);
      resolve(place);
    };
    session.on('NodeWorker.attachedToWorker', (event: { readonly params: unknown }) => {
      const { sessionId, workerInfo } = event.params as Attached;
      if (!workerInfo.title.startsWith(`[worker ${threadId}]`)) return;
      send = (id, method) =>
        session.post('NodeWorker.sendMessageToWorker', { sessionId, message: JSON.stringify({ id, method }) });
      send(1, 'Debugger.enable');
      send(2, 'Debugger.pause');
    });
    session.on('NodeWorker.receivedMessageFromWorker', (event: { readonly params: unknown }) => {
      const { message } = event.params as { readonly message: string };
      received(JSON.parse(message) as WorkerMessage);
    });
    session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
  });
}

function placeIn(frames: readonly CallFrame[], urls: ReadonlyMap<string, string>): BusyPlace | null {
  const places = frames.flatMap(({ functionName, location }) => {
    const file = sourceFile(urls.get(location.scriptId) ?? '');
    return file === null ? [] : [busyPlace(functionName, file, location.lineNumber + 1)];
  });
  return places.find(({ file }) => isPluginCode(file)) ?? places[0] ?? null;
}

export function busyPlace(functionName: string, file: string, line: number): BusyPlace {
  return { text: `${functionName === '' ? '(anonymous)' : functionName} (${file}:${line})`, file };
}
