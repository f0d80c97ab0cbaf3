import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areParcels, isCounters, isWelcome } from './messages.ts';

const socket = {
  ip: '127.0.0.1',
  port: 8000,
  udp: false,
  descriptor: 4,
  reuseport: true,
  chosen: false,
  name: 'proxy',
};
const welcome = {
  type: 'welcome',
  format: 1,
  version: '0.1.0',
  sockets: [socket],
  debugToken: null,
  ticketKeys: new Uint8Array(48),
};
const parcel = { key: 'a/b/4096', bytes: 4096, change: { seed: [1, 2], content: 1, slots: new Float64Array(13) } };

test('a welcome is accepted only as a whole', () => {
  assert.ok(isWelcome(welcome));
  for (const broken of [
    null,
    'welcome',
    { ...welcome, type: 'counters' },
    { ...welcome, format: '1' },
    { ...welcome, ticketKeys: new Uint8Array(47) },
    { ...welcome, debugToken: 1 },
    { ...welcome, sockets: [{ ...socket, port: 65_536 }] },
    { ...welcome, sockets: [{ ...socket, descriptor: -1 }] },
    { ...welcome, sockets: [{ ...socket, name: undefined }] },
    { ...welcome, sockets: Array.from({ length: 5000 }, () => socket) },
  ]) {
    assert.equal(isWelcome(broken), false, JSON.stringify(broken)?.slice(0, 200));
  }
});

test('counters are accepted only with zones and addresses of the right form', () => {
  const counters = { type: 'counters', format: 1, zones: [parcel], unhealthy: [], omitted: 0 };
  assert.ok(isCounters(counters));
  assert.equal(isCounters({ ...counters, zones: {} }), false);
  assert.equal(isCounters({ ...counters, unhealthy: [{ upstreamId: 1, address: 'a' }] }), false);
  assert.equal(areParcels([{ ...parcel, bytes: 1.5 }]), false);
  assert.equal(areParcels([{ ...parcel, change: { ...parcel.change, slots: [1, 2, 3] } }]), false);
  assert.equal(areParcels([{ ...parcel, change: { ...parcel.change, seed: [1] } }]), false);
});
