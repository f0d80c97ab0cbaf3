import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { testPlugin } from 'sluicegate/plugin-testing';
import geoip from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'geoip-'));
after(() => rmSync(folder, { recursive: true }));

function tableFile(text: string): string {
  const file = join(folder, `${Math.random()}.csv`);
  writeFileSync(file, text);
  return file;
}

const file = tableFile('1.0.0.0,1.0.0.255,AU\n"9.9.9.9","9.9.9.9","US"\r\n2001:db8::,2001:db8::ffff,DE\n');

test('the backend receives the country of the address, whatever the client sent', async () => {
  const plugin = testPlugin(geoip, { config: { file } });
  for (const [clientIp, country] of [
    ['1.0.0.77', 'AU'],
    ['9.9.9.9', 'US'],
    ['2001:db8::1', 'DE'],
    ['8.8.8.8', 'ZZ'],
  ] as const) {
    const { upstream, record } = await plugin.request({
      clientIp,
      headers: { 'X-Country': 'FR', 'X-Real-IP': '1.0.0.1' },
    });
    assert.deepEqual(upstream?.headers['x-country'], [country]);
    assert.equal(record['country'], country);
  }
});

test('clients of some countries are refused, also those of none', async () => {
  const plugin = testPlugin(geoip, { config: { file, refused: ['US', 'ZZ'] } });
  assert.equal((await plugin.request({ clientIp: '9.9.9.9' })).response.status, 403);
  assert.equal((await plugin.request({ clientIp: '8.8.8.8' })).response.status, 403);
  assert.equal((await plugin.request({ clientIp: '1.0.0.1' })).response.status, 200);
});

test('a table that cannot be used refuses the instance, with the line', async () => {
  const broken = [
    ['1.0.0.0,1.0.0.255,AUS\n', /line 1: no country/],
    ['9.9.9.9,9.9.9.9,US\n1.0.0.0,1.0.0.1,AU\n', /range 2: the ranges are not in order/],
    ['1.0.0.0,x,AU\n', /range 1: an address is not valid/],
  ] as const;
  for (const [text, message] of broken) {
    // In the gateway, requests are answered with 500, and the error log has the message.
    await assert.rejects(testPlugin(geoip, { config: { file: tableFile(text) } }).request(), message);
  }
});
