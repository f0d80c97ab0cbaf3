import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';

/**
 * Writes consumers `consumer-<number>` with keys `key-<number>` (seven digits) straight into the tables of a store that no node has open:
 * the Admin API would take an hour for a million.
 */
export function fillConsumers(file: string, count: number): void {
  const database = new DatabaseSync(file);
  database.exec('begin');
  const consumer = database.prepare('insert into consumers (id, created_at, username, body) values (?, ?, ?, ?)');
  const credential = database.prepare(
    'insert into keyauth_credentials (id, created_at, key, consumer_id, body) values (?, ?, ?, ?, ?)',
  );
  for (let at = 0; at < count; at++) {
    const id = randomUUID();
    const number = String(at).padStart(7, '0');
    consumer.run(id, 1_700_000_000_000 + at, `consumer-${number}`, '{"tags":null}');
    credential.run(randomUUID(), 1_700_000_000_000 + at, `key-${number}`, id, '{"tags":null}');
  }
  database.exec('commit');
  database.close();
}
