import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StoreWriter } from '../../control/store/store.ts';
import { StoreError } from '../../control/store/store.ts';
import type { Row } from '../../shared/entities/entity.ts';
import type { TouchedRow } from '../../shared/lookup/calls.ts';
import { NodeMessages } from './node-messages.ts';

type Written = Row & { readonly expires_at: number };

/** Nodes that share rows. */
function rig(shared = true) {
  const rows: Written[] = [];
  const state = { available: true };
  const node = () => {
    const heard: string[] = [];
    const messages = new NodeMessages({
      shared,
      store: {
        write: async (work) => {
          if (!state.available) throw new StoreError({ kind: 'unavailable' }, { message: 'no answer' });
          const insert = async (_: string, row: Row): Promise<Row> => {
            rows.push(row as Written);
            return row;
          };
          return { result: await work({ now: 5000, insert } as unknown as StoreWriter), version: rows.length };
        },
      },
      receivers: {
        received: (plugin, message) => void heard.push(`${plugin} ${JSON.stringify(message)}`),
        missed: () => void heard.push('missed'),
      },
    });
    const receive = (touched: readonly TouchedRow[], invalidateAll = false): readonly string[] => {
      messages.configChanged({ version: 1, full: false, upserts: {}, removes: {}, touched, invalidateAll });
      return heard.splice(0);
    };
    return { messages, receive };
  };
  return { rows, state, node };
}

const touchedOf = ({ id, sender, plugin, text }: Row): TouchedRow => ({
  entity: 'node_messages',
  id,
  values: { sender: String(sender), plugin: String(plugin), text: String(text) },
});

describe('messages between nodes', () => {
  it('of the node itself do not go to a plugin', async () => {
    const { rows, node } = rig();
    const [one, two] = [node(), node()];
    const levels: unknown[] = [];
    two.messages.on('@log-level', (level) => levels.push(level));
    await one.messages.send('@log-level', 'debug');
    assert.deepEqual(two.receive(rows.map(touchedOf)), []);
    assert.deepEqual(levels, ['debug']);
  });

  it('reach every other process once, in their order, and expire', async () => {
    const { rows, node } = rig();
    const [one, two] = [node(), node()];
    assert.equal(await one.messages.send('bee', { a: 1 }), true);
    assert.equal(await one.messages.send('bee', 'two'), true);
    const touched = rows.map(touchedOf);
    assert.deepEqual(two.receive(touched), ['bee {"a":1}', 'bee "two"']);
    assert.deepEqual(one.receive(touched), [], 'not the sender');
    assert.deepEqual(two.receive(rows.map(({ id }) => ({ entity: 'node_messages', id, values: {} }))), [], 'removed');
    assert.deepEqual(
      rows.map(({ expires_at: end }) => end),
      [3_605_000, 3_605_000],
    );
  });

  it('are missed when they have expired unread, or all rows were compared', () => {
    const { node } = rig();
    const { receive } = node();
    assert.deepEqual(receive([{ entity: 'node_messages', id: 'x', values: {}, unread: true }]), ['missed']);
    assert.deepEqual(receive([], true), ['missed']);
    assert.deepEqual(receive([{ entity: 'consumers', id: 'x', values: {}, unread: true }]), []);
  });

  it('are not stored where no other node can read them', async () => {
    const { rows, node } = rig(false);
    assert.equal(await node().messages.send('bee', 1), false);
    assert.equal(rows.length, 0);
  });

  it('have a limit, and say so when the store is unavailable', async () => {
    const { state, node } = rig();
    const { messages } = node();
    await assert.rejects(messages.send('bee', 'x'.repeat(20_000)), { kind: 'invalid' });
    await assert.rejects(messages.send('bee', undefined), { kind: 'invalid' });
    state.available = false;
    await assert.rejects(messages.send('bee', 1), { kind: 'unavailable', message: 'no answer' });
  });
});
