import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startGatewayProcess } from '../../../test/support/gateway-process.ts';
import { until } from '../../../test/support/until.ts';

const prefix = mkdtempSync(join(tmpdir(), 'sluicegate-priority-'));
after(() => rmSync(prefix, { recursive: true, force: true }));

const skip = process.platform === 'linux' && process.getuid?.() === 0 ? false : 'needs Linux and root';

test('the control plane has the normal priority while requests wait for it, and a lower one otherwise', {
  skip,
}, async () => {
  await using node = startGatewayProcess(prefix);
  await node.started();
  const { pid } = node.child;
  const nice = (): number => {
    // After the name of the thread in parentheses: proc(5), field 19.
    const fields = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return Number(fields[16]);
  };
  const normal = getPriority();
  const put = async (path: string, body: object): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    const { status } = await fetch(node.url('admin') + path, { method: 'PUT', headers, body: JSON.stringify(body) });
    assert.equal(status, 200);
  };
  await put('/services/s', { url: 'http://127.0.0.1:9' });
  await put('/services/s/routes/r', { paths: ['/'] });
  const limit = { minute: 10, policy: 'cluster', limit_by: 'header', header_name: 'x-key', fault_tolerant: false };
  await put('/routes/r/plugins/5e771ed0-0000-4000-8000-000000000001', { name: 'rate-limiting', config: limit });
  await put('/routes/r/plugins/5e771ed0-0000-4000-8000-000000000002', { name: 'request-termination', config: {} });
  await until(() => nice() > normal);
  // Each key needs a lease.
  let key = 0;
  await until(async () => {
    const { status } = await fetch(node.url('proxy'), { headers: { 'x-key': String(key++) } });
    assert.equal(status, 503);
    return nice() === normal;
  });
  await until(() => nice() > normal);
});
