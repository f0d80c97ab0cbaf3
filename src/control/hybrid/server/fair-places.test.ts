import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairPlaces, type PlaceHolder } from './fair-places.ts';

class Client implements PlaceHolder {
  readonly ip: string;
  yielded = false;

  constructor(ip: string) {
    this.ip = ip;
  }

  yield(): void {
    this.yielded = true;
  }
}

function take(places: FairPlaces<Client>, ip: string): Client | null {
  if (!places.admits(ip)) return null;
  const client = new Client(ip);
  places.add(client);
  return client;
}

test('an address gives its newest place to one that has fewer, until they have as many', () => {
  const places = new FairPlaces<Client>({ max: 4, perSecond: 1000 });
  const first = [1, 2, 3, 4].map(() => take(places, '10.0.0.1'));
  assert.ok(take(places, '10.0.0.2') !== null && take(places, '10.0.0.2') !== null);
  assert.deepEqual(
    first.map((client) => client?.yielded),
    [false, false, true, true],
  );
  assert.equal(take(places, '10.0.0.2'), null);
  assert.equal(take(places, '10.0.0.1'), null);
  assert.equal(places.taken, 4);
});

test('a place that was left is free, also when it is left twice', () => {
  const places = new FairPlaces<Client>({ max: 1, perSecond: 1000 });
  const one = take(places, '10.0.0.1');
  assert.ok(one !== null);
  assert.equal(take(places, '10.0.0.2'), null);
  places.remove(one);
  places.remove(one);
  assert.equal(places.taken, 0);
  assert.ok(take(places, '10.0.0.2') !== null);
});

test('of the places of a second one address gets half', () => {
  const places = new FairPlaces<Client>({ max: 1000, perSecond: 10 });
  const given = (ip: string): number => Array.from({ length: 20 }, () => take(places, ip)).filter(Boolean).length;
  assert.equal(given('10.0.0.1') <= 10, true);
  assert.ok(given('10.0.0.2') >= 5);
});

test('the addresses of one IPv6 network are one client', () => {
  const places = new FairPlaces<Client>({ max: 2, perSecond: 1000 });
  const [first, second] = [take(places, '2001:db8::1'), take(places, '2001:db8::2')];
  assert.ok(first !== null && second !== null);
  assert.ok(take(places, '10.0.0.1') !== null);
  assert.equal(second.yielded, true);
});
