import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ContractCase, ContractRig } from '../contract.ts';

/** Turns of the event loop after which clients disconnect: together they reach every phase of a request. */
const turns = 24;

export const aborts: readonly ContractCase[] = [
  {
    name: 'clients disconnect at every moment of a request',
    async run(rig) {
      for (const http2 of [false, true]) {
        for (let wait = 0; wait < turns; wait++) await abortAfter(rig, wait, http2);
      }
    },
  },
  {
    name: 'clients disconnect while they send a body',
    async run(rig) {
      for (const http2 of [false, true]) {
        for (const wait of [0, 2, 5, 9, 14]) {
          const running = rig.gateway.start(
            rig.request({ method: 'POST', headers: { 'content-type': 'application/json' }, streamed: true, http2 }),
          );
          running.write('{"half":');
          await after(wait);
          running.abort();
          await rig.gateway.clock.settle();
        }
      }
      const raw = rig.gateway.connect();
      raw.write(rig.head('POST', '/').slice(0, -4));
      await rig.gateway.clock.settle();
      raw.reset();
    },
  },
  {
    name: 'clients disconnect in the middle of an answer',
    async run(rig) {
      const { gateway } = rig;
      gateway.backend.onRequest = () => ({
        headers: { 'content-type': 'application/json' },
        body: (async function* () {
          for (let at = 0; at < 50; at++) {
            yield `{"piece":${at}}\n`;
            await nextTurn();
          }
        })(),
      });
      for (const http2 of [false, true]) {
        for (const wait of [6, 10, 15, 21, 30]) await abortAfter(rig, wait, http2);
      }
    },
  },
  {
    name: 'clients that stop reading, and disconnect',
    async run({ gateway, head }) {
      gateway.backend.onRequest = () => ({ body: Buffer.alloc(2_000_000, 'c') });
      const raw = gateway.connect();
      raw.pause();
      raw.write(`${head('GET', '/large')}\r\n`);
      await gateway.clock.settle();
      raw.reset();
      const slow = gateway.connect();
      slow.pause();
      slow.write(`${head('GET', '/large')}Connection: close\r\n\r\n`);
      await gateway.clock.settle();
      slow.resume();
      await slow.closed();
    },
  },
];

async function abortAfter({ gateway, request }: ContractRig, wait: number, http2: boolean): Promise<void> {
  const running = gateway.start(request({ method: 'POST', path: `/abort/${wait}`, body: '{"a":1}', http2 }));
  await after(wait);
  running.abort();
  await gateway.clock.settle();
}

async function after(wait: number): Promise<void> {
  for (let at = 0; at < wait; at++) await nextTurn();
}
