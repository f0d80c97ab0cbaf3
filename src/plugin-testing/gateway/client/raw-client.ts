import type { MemorySocket } from '../../../shared/util/net/memory-socket.ts';
import type { RawConnection } from '../options.ts';
import { NoAnswerError } from './contract.ts';

/** Real milliseconds. */
const maxWait = 10_000;

/** A connection for bytes of the test's own. */
export function rawClient(socket: MemorySocket): RawConnection {
  let text = '';
  let ended: RawConnection['ended'] = null;
  const waiting = new Set<() => void>();
  const changed = (): void => {
    for (const check of [...waiting]) check();
  };
  socket.on('data', (data: Buffer) => {
    text += data.toString('latin1');
    changed();
  });
  socket.on('error', () => {
    ended = 'reset';
  });
  socket.on('end', () => {
    ended ??= 'closed';
    changed();
  });
  socket.on('close', () => {
    ended ??= 'closed';
    changed();
  });
  const wait = (what: string, done: () => boolean): Promise<string> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => finish(() => reject(new NoAnswerError(`${what}: ${maxWait / 1000} s are over. Arrived: ${text}`))),
        maxWait,
      );
      const finish = (settle: () => void): void => {
        clearTimeout(timer);
        waiting.delete(check);
        settle();
      };
      const check = (): void => {
        if (done()) finish(() => resolve(text));
        else if (ended !== null)
          finish(() => reject(new NoAnswerError(`${what}: the connection is ${ended}. Arrived: ${text}`)));
      };
      waiting.add(check);
      check();
    });
  return {
    get text() {
      return text;
    },
    get ended() {
      return ended;
    },
    write(bytes) {
      socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    },
    until: (part) => wait(`'${part}' has not arrived`, () => text.includes(part)),
    closed: () => wait('the connection is open', () => ended !== null),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    end: () => void socket.end(),
    reset: () => void socket.resetAndDestroy(),
  };
}
