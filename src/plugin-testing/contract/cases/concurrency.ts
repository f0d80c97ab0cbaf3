import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ReceivedRequest } from '../../gateway/backend/contract.ts';
import type { ContractCase } from '../contract.ts';

/** Answers with the token of the request's path, after a number of turns that differs from request to request. */
async function withToken({ path }: ReceivedRequest) {
  const token = /token-\d+-/.exec(path)?.[0] ?? 'none';
  for (let at = 0; at < (token.charCodeAt(6) * 7) % 5; at++) await nextTurn();
  return {
    headers: { 'content-type': 'application/json', 'x-token': token },
    body: [`{"token":"${token}",`, `"again":"${token}"}`],
  };
}

export const concurrency: readonly ContractCase[] = [
  {
    name: 'many requests at once see only what is theirs',
    async run({ gateway, request }) {
      gateway.backend.onRequest = withToken;
      const tokens = Array.from({ length: 60 }, (_, at) => `token-${at}-`);
      const running = tokens.map((token, at) =>
        gateway.start(
          request({
            method: at % 3 === 0 ? 'POST' : 'GET',
            path: `/${token}?t=${token}`,
            headers: { 'x-token': token, ...(at % 3 === 0 ? { 'content-type': 'application/json' } : {}) },
            ...(at % 3 === 0 ? { body: [`{"token":`, `"${token}"}`] } : {}),
            http2: at % 2 === 0,
          }),
        ),
      );
      const answers = await gateway.clock.until(Promise.all(running.map(({ answer }) => answer)));
      answers.forEach((answer, at) => {
        assert.ok(answer.complete, 'an answer was broken off');
        const text = `${answer.body} ${[...answer.headers].join(' ')}`;
        const foreign = text.match(/token-\d+-/g)?.filter((token) => token !== tokens[at]) ?? [];
        assert.deepEqual(foreign, [], `the answer to ${tokens[at]} contains what belongs to another request`);
      });
      for (const { path, headers, body } of gateway.backend.requests) {
        const all = `${path} ${Object.values(headers).join(' ')} ${body}`.match(/token-\d+-/g) ?? [];
        assert.ok(new Set(all).size <= 1, `the backend received what belongs to several requests: ${all.join(' ')}`);
      }
    },
  },
  {
    name: 'requests in a row on one connection',
    async run({ gateway, head }) {
      const raw = gateway.connect();
      for (let at = 0; at < 3; at++) raw.write(`${head('GET', `/row/${at}`)}\r\n`);
      raw.write(`${head('GET', '/row/last')}Connection: close\r\n\r\n`);
      const text = await gateway.clock.until(raw.closed());
      const answers = text.match(/(?:^|\n|\})HTTP\/1\.1 \d\d\d /g) ?? text.match(/HTTP\/1\.1 \d\d\d /g) ?? [];
      assert.ok(answers.length >= 1, 'requests in a row were not answered');
    },
  },
  {
    name: 'edits of the config with requests in flight',
    async run({ gateway, request, config, without }) {
      const released = Promise.withResolvers<void>();
      gateway.backend.onRequest = async (received) => {
        await released.promise;
        return withToken(received);
      };
      const running = [];
      for (let at = 0; at < 24; at++) {
        running.push(gateway.start(request({ path: `/edit/${at}`, http2: at % 2 === 0 })));
        await nextTurn();
        if (at % 4 === 3) await gateway.apply(at % 8 === 3 ? without : config);
      }
      await gateway.clock.settle();
      await gateway.apply(config);
      released.resolve();
      const answers = await gateway.clock.until(Promise.all(running.map(({ answer }) => answer)));
      for (const { complete, status, body } of answers) {
        assert.ok(complete, 'an answer was broken off by an edit');
        assert.notEqual(status, 500, `an internal error: ${body}`);
      }
    },
  },
  {
    name: 'set up and disposed of again and again',
    async run({ gateway, request, config, without }) {
      for (let round = 0; round < 5; round++) {
        await gateway.apply(without);
        await gateway.clock.until(gateway.request(request({ path: `/without/${round}` })));
        await gateway.apply(config);
        await gateway.clock.until(gateway.request(request({ path: `/with/${round}` })));
      }
    },
  },
];
