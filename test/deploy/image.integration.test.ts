import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { root } from '../../scripts/lib/files.ts';
import {
  type NamespaceContainer,
  nodeLayer,
  skipWithoutNamespaces,
  startContainer,
} from '../support/namespace-container.ts';
import { until } from '../support/until.ts';
import { readResources, workloadOf } from './deploy-files.fixture.ts';
import {
  copyStage,
  type ImageConfig,
  imageConfig,
  readStages,
  runBuildStage,
  type Stage,
} from './dockerfile.fixture.ts';

/*
 * No container engine is needed: the instructions of the Dockerfile run in namespaces, with this machine's own root and
 * Node instead of the base image, and the result runs as a container of the image does.
 */

const skip = skipWithoutNamespaces();
const [build, image] = readStages(readFileSync(join(root, 'deploy/docker/Dockerfile'), 'utf8')) as [Stage, Stage];
const config = imageConfig(image);

describe('the container image', { skip }, () => {
  let home = '';
  let layers: readonly string[] = [];
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'sluicegate-image-'));
    const base = await nodeLayer(join(home, 'base'));
    const built = await runBuildStage(build, [base], home);
    layers = [await copyStage(image, built, home), base];
  });
  after(() => rm(home, { recursive: true, force: true }));

  let volumes = 0;
  async function newVolume({ uid, gid, mode }: { uid: number; gid: number; mode: number }): Promise<string> {
    const folder = join(home, `volume-${volumes++}`);
    await mkdir(folder);
    await chown(folder, uid, gid);
    await chmod(folder, mode);
    return folder;
  }

  /** As `docker run --read-only --cap-drop ALL --security-opt no-new-privileges` does. */
  function start(volume: string, env: Readonly<Record<string, string>> = {}): Promise<NamespaceContainer> {
    const [path = ''] = config.volumes;
    return startContainer({
      command: [...config.entrypoint, ...config.command],
      env: { ...config.env, SLUICEGATE_NGINX_WORKER_PROCESSES: '1', SLUICEGATE_SHUTDOWN_DELAY: '0s', ...env },
      layers,
      user: Number(config.user.split(':')[0]),
      readOnly: true,
      volumes: { [path]: volume },
      workdir: config.workdir,
    });
  }

  /** The health check runs when the node has said that it listens: each run of it is a process, which slows the start down. */
  async function untilHealthy(container: NamespaceContainer, { health }: ImageConfig): Promise<void> {
    await container.printed(/^ {2}status .*\n/m);
    let last = '';
    await until(async () => {
      const { code, output } = await container.exec(health);
      last = output;
      return code === 0;
    }, 40_000).catch(() => assert.fail(`${last}\n${container.output()}`));
  }

  /** Those of the manifests for Kubernetes. */
  function probePaths(): readonly string[] {
    const [container] = workloadOf(readResources('deploy/kubernetes/db-less.yaml')).spec.template.spec.containers;
    const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe];
    return probes.map(({ httpGet }) => {
      assert.equal(httpGet.port, 'status');
      return httpGet.path;
    });
  }

  const own = { uid: 10001, gid: 10001, mode: 0o770 };

  it('runs as process 1 without rights, on a read-only root, and reports its health', async () => {
    await using container = await start(await newVolume(own));
    await untilHealthy(container, config);
    const status = await container.exec(['cat', '/proc/1/status']);
    assert.match((await container.exec(['cat', '/proc/1/cmdline'])).output, /dist\/main\.js/);
    assert.match(status.output, /^Uid:\s+10001\s+10001/m);
    assert.match(status.output, /^CapEff:\s+0+$/m);
    assert.match(status.output, /^NoNewPrivs:\s+1$/m);
    assert.notEqual((await container.exec(['touch', '/opt/sluicegate/x'])).code, 0);
    for (const path of probePaths()) {
      const { code, output } = await container.exec(['curl', '-sf', '-m', '5', `http://127.0.0.1:8100${path}`]);
      assert.equal(code, 0, `${path}: ${output}`);
    }
  });

  it('logs requests to its output, and no log file fills the volume', async () => {
    const volume = await newVolume(own);
    await using container = await start(volume);
    await untilHealthy(container, config);
    const curl = ['curl', '-s', '-m', '5'];
    assert.match((await container.exec([...curl, 'http://127.0.0.1:8000/seen'])).output, /no Route matched/);
    await container.printed(/"GET \/seen HTTP\/1\.1" 404/);
    assert.match((await container.exec([...curl, 'http://127.0.0.1:8001/status'])).output, /"database"/);
    await container.printed(/"GET \/status HTTP\/1\.1" 200/);
    assert.deepEqual(await readdir(join(volume, 'logs')), []);
  });

  it('finishes at SIGTERM, and leaves no zombies of its health checks', async () => {
    await using container = await start(await newVolume(own));
    await untilHealthy(container, config);
    for (let at = 0; at < 3; at++) await container.exec(config.health);
    const { output } = await container.exec(['sh', '-c', 'cat /proc/[0-9]*/stat']);
    assert.doesNotMatch(output, /^\d+ \(.*\) Z /m);
    process.kill(container.pid, 'SIGTERM');
    assert.equal(await container.exit, 0, container.output());
    assert.match(container.output(), /stopped \(gracefully\)/);
  });

  it('starts again on the volume of a container that was killed', async () => {
    const volume = await newVolume(own);
    {
      await using killed = await start(volume);
      await untilHealthy(killed, config);
      const added = await killed.exec([
        'curl',
        '-s',
        '-m',
        '5',
        '-d',
        'name=kept',
        '-d',
        'url=http://127.0.0.1:9',
        'http://127.0.0.1:8001/services',
      ]);
      assert.match(added.output, /"kept"/);
    }
    await using container = await start(volume);
    await untilHealthy(container, config);
    const { output } = await container.exec(['curl', '-s', '-m', '5', 'http://127.0.0.1:8001/services/kept']);
    assert.match(output, /"name":"kept"/);
  });

  it('accepts a volume that belongs to root, with its group (fsGroup of Kubernetes)', async () => {
    await using container = await start(await newVolume({ uid: 0, gid: 10001, mode: 0o2770 }));
    await untilHealthy(container, config);
  });

  it('loads a plugin that is copied into a folder of it', async () => {
    const layer = join(home, 'plugin');
    await mkdir(join(layer, 'opt/sluicegate/plugins'), { recursive: true });
    await writeFile(
      join(layer, 'opt/sluicegate/plugins/shout.ts'),
      `import { definePlugin, httpProtocols } from 'sluicegate/plugin-sdk';
import { record } from 'sluicegate/plugin-sdk/schema';
export default definePlugin({
  name: 'shout', version: '1.0.0', priority: 500, protocols: httpProtocols,
  schema: async () => ({ config: record({}) }), setup: () => ({}),
});\n`,
    );
    layers = [layer, ...layers];
    await using container = await start(await newVolume(own), { SLUICEGATE_PLUGINS: 'bundled,./plugins/shout.ts' });
    await untilHealthy(container, config);
    const { output } = await container.exec(['curl', '-s', '-m', '5', 'http://127.0.0.1:8001/']);
    assert.match(output, /"shout"/);
  });
});
