import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeldBytes, type Holder } from './held-bytes.ts';

class Connection implements Holder {
  readonly ip: string;
  dropped = false;

  constructor(ip: string) {
    this.ip = ip;
  }

  drop(): void {
    this.dropped = true;
  }
}

test('the connection with the most is dropped, of the address that holds the most', () => {
  const held = new HeldBytes(100);
  const single = new Connection('10.0.0.1');
  const many = [20, 25, 15].map((bytes) => {
    const connection = new Connection('10.0.0.2');
    held.set(connection, bytes);
    return connection;
  });
  held.set(single, 40);
  assert.equal(held.total, 100);
  held.set(single, 41);
  assert.deepEqual(
    [single, ...many].map(({ dropped }) => dropped),
    [false, false, true, false],
  );
  assert.equal(held.total, 76);
});

test('what is released is free again', () => {
  const held = new HeldBytes(100);
  const [one, other] = [new Connection('10.0.0.1'), new Connection('10.0.0.2')];
  held.set(one, 90);
  held.set(one, 10);
  held.set(other, 90);
  assert.equal(held.total, 100);
  held.set(one, 0);
  held.set(other, 0);
  assert.equal(held.total, 0);
  assert.equal(one.dropped || other.dropped, false);
});
