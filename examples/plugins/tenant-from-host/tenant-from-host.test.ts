import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from 'sluicegate/plugin-testing';
import tenantFromHost from './index.ts';

const config = { domain: 'Example.com', tenants: { acme: 'T-1', 'b-2': 'T-2' } };
const plugin = testPlugin(tenantFromHost, { config });

test('the backend receives the id of the tenant, whatever the client sent', async () => {
  const headers = { Host: 'ACME.example.com:8080', 'X-Tenant-Id': 'T-2', X_Tenant_Id: 'T-2' };
  const { upstream } = await plugin.request({ headers });
  assert.deepEqual(upstream?.headers['x-tenant-id'], ['T-1']);
  assert.equal(upstream?.headers['x_tenant_id'], undefined);
});

test('a host of no tenant is refused', async () => {
  const hosts = ['example.com', 'x.example.com', 'acme.example.com.evil.test', 'acmeexample.com', 'a.acme.example.com'];
  for (const Host of [...hosts, '__proto__.example.com', 'constructor.example.com', '.example.com']) {
    const { response, upstream } = await plugin.request({ headers: { Host, 'X-Forwarded-Host': 'acme.example.com' } });
    assert.deepEqual([response.status, upstream], [404, null], Host);
  }
});

test('an id that could end a header is refused', async () => {
  assert.equal((await plugin.check({ ...config, tenants: { acme: 'a\r\nb' } })).ok, false);
  assert.equal((await plugin.check({ ...config, tenants: { 'A B': 'a' } })).ok, false);
});
