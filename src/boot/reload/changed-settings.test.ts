import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definitions, settingNames } from '../../shared/settings/schema.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { loadSettings } from '../../shared/settings/sources/load.ts';
import { changedSettings } from './changed-settings.ts';
import { ReloadSteps } from './reload-steps.ts';
import { Reloading } from './reloading.ts';

const load = (flags: Readonly<Record<string, string>> = {}): Settings => loadSettings({ flags, cwd: '/' }).settings;

test('names what has changed, and nothing else', () => {
  assert.deepEqual(changedSettings(load(), load()), []);
  assert.deepEqual(changedSettings(load(), load({ log_level: 'debug', proxy_listen: '127.0.0.1:1' })).toSorted(), [
    'log_level',
    'proxy_listen',
  ]);
});

test('notices a secret that has changed, although it is masked', () => {
  for (const name of settingNames.filter((each) => definitions[each].secret)) {
    const other: Record<string, string> = name.startsWith('client_ssl') ? { client_ssl: 'on' } : {};
    if (name === 'cluster_cert_key') Object.assign(other, { role: 'data_plane', cluster_cert: '/a.pem' });
    // A key needs its certificate.
    if (name.endsWith('_ssl_cert_key') || name === 'ssl_cert_key') other[name.slice(0, -'_key'.length)] = '/a.pem';
    const [before, after] = ['one-secret-text-of-some-length', 'another-secret-text-of-length'].map((value) =>
      load({ ...other, [name]: value }),
    ) as [Settings, Settings];
    assert.deepEqual(changedSettings(before, after), [name]);
  }
});

test('applies no step when one of them refuses the settings', async () => {
  const steps = new ReloadSteps();
  const applied: string[] = [];
  steps.add({ settings: ['log_level'], prepare: () => () => void applied.push('log_level') });
  steps.add({
    settings: ['trusted_ips'],
    prepare(_next, changed) {
      if (changed.has('trusted_ips')) throw new Error('refused');
      return null;
    },
  });
  const bound = { ...load() };
  const reloading = new Reloading(load(), bound, steps);
  await assert.rejects(reloading.run(load({ log_level: 'debug', trusted_ips: '10.0.0.1' })), /^Error: refused$/);
  assert.deepEqual(applied, []);
  assert.equal(bound.public['log_level'], 'notice');
  const flags = { log_level: 'debug', plugins: 'key-auth', drain_timeout: '31s' };
  assert.deepEqual(await reloading.run(load(flags)), {
    applied: ['log_level'],
    byNewProcess: ['plugins'],
    restart: ['drain_timeout'],
  });
  assert.deepEqual(applied, ['log_level']);
  assert.equal(bound.public['log_level'], 'debug');
  assert.notEqual(bound.public['drain_timeout'], 31);
  assert.deepEqual((await reloading.run(load(flags))).applied, [], 'it is in effect already');
});
