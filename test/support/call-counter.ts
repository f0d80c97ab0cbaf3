import { type InspectorNotification, Session } from 'node:inspector';

/** Calls of functions in the worker threads of this process, by file. */
export interface CallCounter extends Disposable {
  /** Files that have functions which were called at least `times` times since the last call of `begin`. */
  filesCalled(times: number): Promise<readonly string[]>;
  begin(): Promise<void>;
}

interface Attached {
  readonly sessionId: string;
}
interface Received extends Attached {
  readonly message: string;
}
interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
  }[];
}

/** Attaches the profiler to the worker threads that run now. */
export async function countCalls(): Promise<CallCounter> {
  const session = new Session();
  session.connect();
  const workers: string[] = [];
  const waiting = new Map<number, (result: unknown) => void>();
  let lastId = 0;
  session.on('NodeWorker.attachedToWorker', ({ params }: InspectorNotification<Attached>) => {
    workers.push(params.sessionId);
  });
  session.on('NodeWorker.receivedMessageFromWorker', ({ params }: InspectorNotification<Received>) => {
    const { id, result } = JSON.parse(params.message) as { readonly id?: number; readonly result?: unknown };
    if (id !== undefined) waiting.get(id)?.(result);
  });
  await new Promise<void>((resolve) =>
    session.post('NodeWorker.enable', { waitForDebuggerOnStart: false }, () => resolve()),
  );
  const ask = async (method: string, params: object = {}): Promise<readonly unknown[]> =>
    Promise.all(
      workers.map((sessionId) => {
        const id = ++lastId;
        const answer = new Promise((resolve) => waiting.set(id, resolve));
        session.post('NodeWorker.sendMessageToWorker', { sessionId, message: JSON.stringify({ id, method, params }) });
        return answer;
      }),
    );
  await ask('Profiler.enable');
  await ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return {
    async begin() {
      await ask('Profiler.takePreciseCoverage');
    },
    async filesCalled(times) {
      const taken = (await ask('Profiler.takePreciseCoverage')) as readonly Coverage[];
      const files = taken.flatMap(({ result }) =>
        result.filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) >= times)),
      );
      return files.map(({ url }) => url);
    },
    [Symbol.dispose]() {
      session.disconnect();
    },
  };
}
