import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { bundledPlugins } from '../../src/plugins/registry.ts';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { authentication } from './authentication.ts';
import { bodies } from './bodies.ts';
import { askTls, type Fields, type FirstTry, passes, type Setting } from './first-try.ts';
import { observability } from './observability.ts';
import { traffic } from './traffic.ts';

const rows: Readonly<Record<string, FirstTry>> = { ...authentication, ...bodies, ...observability, ...traffic };

describe('with its smallest configuration', () => {
  const closing = new AsyncDisposableStack();
  let gateway: TestGateway;
  let backend: TestBackend;
  let folder = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluicegate-first-try-'));
    closing.defer(() => rm(folder, { recursive: true, force: true }));
    backend = closing.use(await startBackend());
    const env = { KONG_PROXY_LISTEN: '127.0.0.1:0, 127.0.0.1:0 ssl', KONG_UNTRUSTED_LUA: 'sandbox' };
    gateway = closing.use(await startTestGateway({ env }));
  });
  after(() => closing.disposeAsync());

  it('every bundled plugin has a row, and every row is a bundled plugin', () => {
    assert.deepEqual(Object.keys(rows).sort(), [...bundledPlugins.keys()].sort());
  });

  async function write(method: string, path: string, body?: unknown): Promise<Fields> {
    const answer = await gateway.admin(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  function settingOf(name: string, resources: AsyncDisposableStack): Setting {
    return {
      gateway,
      backend,
      name,
      folder,
      resources,
      write,
      async ask(path = '/', options = {}) {
        const { headers, ...rest } = options;
        const response = await fetch(`${gateway.proxyUrl}/${name}${path}`, {
          redirect: 'manual',
          ...rest,
          headers: { ...headers, Connection: 'close' },
        });
        return {
          status: response.status,
          headers: Object.fromEntries(response.headers),
          body: await response.text(),
        };
      },
      askTls: (path, options) => askTls(gateway.proxyTlsPort, path, options),
    };
  }

  for (const [name, row] of Object.entries(rows)) {
    it(`${name} works on the first try`, { skip: row.skip ?? false }, async () => {
      await using resources = new AsyncDisposableStack();
      const setting = settingOf(name, resources);
      await write(
        'PUT',
        `/services/${name}`,
        row.service === undefined ? { url: backend.url } : await row.service(setting),
      );
      await write('PUT', `/services/${name}/routes/${name}`, { paths: [`/${name}`], ...row.route });
      await row.before?.(setting);
      const config = (typeof row.config === 'function' ? await row.config(setting) : row.config) ?? {};
      const plugins = row.global === true ? '/plugins' : `/services/${name}/plugins`;
      for (const field of Object.keys(config)) {
        const { [field]: left, ...others } = config;
        const { status } = await gateway.admin('POST', plugins, { name, config: others });
        assert.equal(status, 400, `${field}: ${JSON.stringify(left)} is not needed`);
      }
      const { id } = await write('POST', plugins, { name, config: { ...config, ...row.elsewhere?.() } });
      if (row.global === true) resources.defer(async () => void (await write('DELETE', `/plugins/${id}`)));
      await (row.works ?? passes)(setting);
    });
  }
});
