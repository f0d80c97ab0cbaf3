import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestAdmin } from './admin.fixture.ts';

/** Records and live tails are tested in test/traffic/, through whole gateways. */

test('a control plane carries no traffic, and says where to ask', async () => {
  await using admin = await startTestAdmin();
  for (const [method, path] of [
    ['GET', '/traffic'],
    ['DELETE', '/traffic'],
    ['GET', '/traffic/live'],
    ['GET', '/traffic/plugins'],
    ['GET', '/traffic/x'],
  ] as const) {
    const { status, json } = await admin.call(method, path);
    assert.equal(status, 400, path);
    assert.match(
      String(json['message']),
      /control plane and carries no traffic.*\/clustering\/data-planes.*sluicegate explain/,
    );
  }
});
