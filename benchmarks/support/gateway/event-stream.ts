import { get } from 'node:http';
import { BenchError } from '../machine/tools.ts';

/** Milliseconds until the first event. */
const patience = 10_000;

/** Opens a stream of events and reads it. Resolves with its first event; the returned function closes it, and returns the bytes. */
export function openEventStream(url: string): Promise<() => number> {
  return new Promise((resolve, reject) => {
    let bytes = 0;
    const request = get(url, { agent: false }, (incoming) => {
      if (incoming.statusCode !== 200) {
        request.destroy();
        reject(new BenchError(`${url} was answered ${incoming.statusCode}`));
        return;
      }
      incoming.on('error', () => {});
      incoming.on('data', (piece: Buffer) => {
        bytes += piece.byteLength;
        clearTimeout(timer);
        resolve(() => {
          request.destroy();
          return bytes;
        });
      });
    });
    const timer = setTimeout(() => {
      request.destroy();
      reject(new BenchError(`${url} sent nothing`));
    }, patience);
    request.on('error', reject);
  });
}
