import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSettings } from '../sources/load.ts';
import { boundListeners } from './bound-listeners.ts';

test('port 0 is shown as the bound port, and everything else as configured', () => {
  const env = { SLUICEGATE_PROXY_LISTEN: '127.0.0.1:0 backlog=7, 127.0.0.1:8000', SLUICEGATE_STATUS_LISTEN: 'off' };
  const { settings } = loadSettings({ env, cwd: import.meta.dirname });
  const proxyListen = settings.proxyListen.map((address) => ({ ...address, port: address.port || 4321 }));
  const shown = boundListeners({ ...settings, proxyListen });
  assert.deepEqual(shown['proxy_listen'], ['127.0.0.1:4321 backlog=7', '127.0.0.1:8000']);
  const [first, second] = shown['proxy_listeners'] as readonly Record<string, unknown>[];
  assert.equal(first?.['port'], 4321);
  assert.equal(first?.['listener'], '127.0.0.1:4321 backlog=7');
  assert.equal(first?.['backlog=7'], true);
  assert.equal(second?.['listener'], '127.0.0.1:8000');
  assert.deepEqual(shown['status_listen'], ['off']);
  assert.deepEqual(shown['status_listeners'], []);
});
