import assert from 'node:assert/strict';
import { exchangeOne } from '../support/raw-client.ts';
import { type Rig, type RigOptions, startRig } from '../support/rig.ts';
import { until } from '../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are read member by member.
export type Json = any;

export interface Change {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** A gateway whose recorder is always on. */
export interface WhatIfRig extends Rig {
  /** Sends a request with these further header lines, and returns its status. */
  send(path: string, lines?: string, method?: string, body?: string): Promise<number>;
  /** The same; returns the body of the answer. */
  read(path: string): Promise<string>;
  /** So many requests were sent in another way. */
  count(requests: number): void;
  /** Waits until so many requests are kept. */
  kept(count: number): Promise<void>;
  /** Waits for the records of all requests, and forgets them. */
  forget(): Promise<void>;
  /** Asks, and expects 200. */
  whatIf(changes: readonly Change[], more?: object): Promise<Json>;
}

export async function startWhatIfRig(options: RigOptions = {}): Promise<WhatIfRig> {
  const env = { SLUICEGATE_TRAFFIC_RECORDER: '2000', SLUICEGATE_TRAFFIC_RECORDER_RATE: '5000', ...options.env };
  const rig = await startRig({ ...options, env });
  let sent = 0;
  const exchange = (path: string, lines: string, method: string, body: string) => {
    sent++;
    return exchangeOne(rig.port, `${method} ${path} HTTP/1.1\r\nHost: a.test\r\n${lines}\r\n${body}`);
  };
  const recorder = async (): Promise<Json> =>
    ((await rig.gateway.admin('GET', '/traffic?size=1')).body as Json).recorder;
  return {
    ...rig,
    async send(path, lines = '', method = 'GET', body = '') {
      return (await exchange(path, lines, method, body)).status;
    },
    async read(path) {
      return (await exchange(path, '', 'GET', '')).body.toString();
    },
    count(requests) {
      sent += requests;
    },
    async kept(count) {
      await until(async () => (await recorder()).kept === count);
    },
    async forget() {
      await until(async () => (await recorder()).sampled === sent);
      await rig.write('DELETE', '/traffic');
    },
    async whatIf(changes, more = {}) {
      const { status, body } = await rig.gateway.admin('POST', '/what-if', { changes, ...more });
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    },
  };
}

/** `before -> after` of each group with its count, sorted. */
export function summary({ groups }: Json): readonly string[] {
  const text = ({ status, by, who, route }: Json): string =>
    `${status} ${by === 'plugin' ? who : by} of ${route?.name ?? 'no route'}`;
  return groups.map(({ before, after, count }: Json) => `${count}: ${text(before)} -> ${text(after)}`).sort();
}
