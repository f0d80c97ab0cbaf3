import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HostQueue } from './host-queue.ts';

const names = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}${at}.test`);

function drained(hosts: HostQueue): readonly string[] {
  const order: string[] = [];
  for (let host = hosts.next(); host !== null; host = hosts.next()) order.push(host);
  return order;
}

test('one client takes at most half of the places, and the host of another is served soon', () => {
  const hosts = new HostQueue();
  const refused = names('a', 200).filter((host) => hosts.add(host, 'one') === host);
  assert.equal(refused.length, 150);
  assert.equal(hosts.add('wanted.test', 'two'), null);
  assert.equal(drained(hosts).indexOf('wanted.test'), 1);
});

test('a new client displaces the newest hosts of clients that fill all places', () => {
  const hosts = new HostQueue();
  for (const host of names('a', 50)) hosts.add(host, 'one');
  for (const host of names('b', 40)) hosts.add(host, 'two');
  for (const host of names('c', 10)) hosts.add(host, 'three');
  assert.equal(hosts.add('wanted.test', 'four'), 'a49.test');
  assert.equal(hosts.add('b0.test', 'four'), null, 'it waits already');
  assert.equal(hosts.has('a49.test'), false);
  const order = drained(hosts);
  assert.equal(order.length, 100);
  assert.ok(order.indexOf('wanted.test') < 4);
});

test('renewals are always accepted, and alternate with requested hosts', () => {
  const hosts = new HostQueue();
  for (const host of names('a', 50)) hosts.add(host, 'one');
  for (const host of names('b', 50)) hosts.add(host, 'two');
  for (const host of names('r', 300)) hosts.addRenewal(host);
  hosts.addRenewal('a7.test');
  const order = drained(hosts);
  assert.equal(order.length, 400);
  assert.equal(new Set(order).size, 400);
  assert.equal(order.indexOf('r0.test'), 2);
});
