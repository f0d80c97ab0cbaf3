import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createStore } from '../../control/store/create-store.ts';
import { createErrorLog } from '../../shared/logs/error-log.ts';
import { uuidV7 } from '../../shared/util/time/uuid-v7.ts';
import { ExpiryJob } from './expiry-job.ts';

const day = 86_400_000;
const log = createErrorLog({ target: 'off', level: 'error', format: 'json' });

test('audit records are removed after the configured retention; 0 keeps them forever', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluicegate-expiry-'));
  const store = await createStore({ kind: 'sqlite', file: join(folder, 'store.sqlite'), definitions: [] });
  await store.migrate();
  const now = Date.now();
  const records = [now - 3 * day, now - day].map((createdAt) => ({
    id: uuidV7(createdAt, 0),
    createdAt,
    actor: 'anonymous',
    method: 'POST',
    entity: null,
    entityId: null,
    requestId: 'r',
    body: {},
  }));
  await store.write((writer) => writer.audit(records));
  for (const [retention, left] of [
    [0, records],
    [2 * day, records.slice(1)],
  ] as const) {
    const settings = { audit: { enabled: true, retention }, configHistory: { versions: 1, retention: 0 } };
    const job = new ExpiryJob(store, log, settings);
    await job.run();
    job.stop();
    assert.deepEqual(await store.listAudit({ limit: 10 }), left);
  }
  await store.close();
  await rm(folder, { recursive: true, force: true });
});
