import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { testPlugin } from '../../plugin-testing/index.ts';

test('lines that a plugin logs in a phase name their request; other lines do not', async () => {
  const ids: string[] = [];
  const plugin = definePlugin({
    name: 'talkative',
    version: '1.0.0',
    priority: 1,
    protocols: httpProtocols,
    schema: { config: record({}) },
    setup(_config, { log }) {
      log.info('setup');
      return {
        async access(context) {
          ids.push(context.request.id);
          log.info('access');
          await new Promise((resolve) => setImmediate(resolve));
          log.info('access, after a wait');
        },
        headerFilter() {
          log.info('headerFilter', { request_id: 'its own' });
        },
        bodyFilter: () => ({
          chunk(piece) {
            log.info('chunk');
            return piece;
          },
          end: () => null,
        }),
        log() {
          log.info('log');
          throw new Error('no matter');
        },
      };
    },
  });
  const gateway = testPlugin(plugin, {});
  await gateway.request({ backend: { body: 'x' } });
  await gateway.request({ backend: { body: 'x' } });
  const lines = gateway.logLines.map(({ message, fields }) => [message, fields['request_id']]);
  const expected = ids.flatMap((id) => [
    ['access', id],
    ['access, after a wait', undefined],
    ['headerFilter', 'its own'],
    ['chunk', id],
    ['log', id],
    ['plugin failed', id],
  ]);
  assert.equal(new Set(ids).size, 2);
  assert.deepEqual(lines, [['setup', undefined], ...expected]);
});
