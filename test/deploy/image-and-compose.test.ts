import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { findFiles, pluginNames, root } from '../../scripts/lib/files.ts';
import { findCommand } from '../../src/cli/commands.ts';
import { definitions, type SettingName } from '../../src/shared/settings/schema.ts';
import { loadSettings } from '../../src/shared/settings/sources/load.ts';
import { version } from '../../src/version.ts';
import { type Document, readText, readYaml, seconds, settingOf } from './deploy-files.fixture.ts';
import { contextFiles, imageConfig, readStages, type Stage } from './dockerfile.fixture.ts';

const composeFiles = findFiles('deploy/compose/compose*.yaml');
/** The settings of nodes without a database, until the gateway has them. */

describe('the Dockerfile', () => {
  const stages = readStages(readText('deploy/docker/Dockerfile')) as [Stage, Stage];
  const config = imageConfig(stages[1]);

  it('has settings that the gateway accepts, and its ports', () => {
    const settings = loadSettings({ env: config.env, cwd: tmpdir() }).settings;
    const listeners = [...settings.proxyListen, ...settings.statusListen].map(({ port }) => port);
    assert.deepEqual(config.ports, listeners);
    assert.deepEqual(config.volumes, [settings.prefix]);
  });

  it('runs as a user with a number that is not root', () => {
    assert.match(config.user, /^[1-9]\d*:[1-9]\d*$/);
  });

  it('starts the gateway, and checks it by a command that exists', () => {
    assert.deepEqual([config.entrypoint, config.command], [['sluicegate'], ['start']]);
    const [program, name = ''] = config.health;
    assert.equal(program, 'sluicegate');
    assert.ok(findCommand(name));
  });

  it('only copies in the last stage, and every package is the same on each architecture', () => {
    assert.equal(
      stages[1].instructions.some(({ name }) => name === 'RUN'),
      false,
    );
    const { packages } = JSON.parse(readText('package-lock.json')) as Record<
      string,
      Readonly<Record<string, Document>>
    >;
    const native = Object.entries(packages ?? {}).filter(
      ([, { dev, cpu, os, hasInstallScript }]) => dev !== true && (cpu || os || hasInstallScript),
    );
    assert.deepEqual(native, []);
  });

  it('gets what it copies, and nothing that it does not need', () => {
    const files = contextFiles(readText('.dockerignore'));
    for (const { name, text } of stages[0].instructions) {
      if (name !== 'COPY') continue;
      for (const source of text.split(' ').slice(0, -1)) assert.ok(source === '.' || files.includes(source), source);
    }
    assert.ok(files.includes('src/main.ts') && files.includes('bin/sluicegate.js'));
    assert.deepEqual(
      files.filter((file) => /\.test\.ts$|^(?:docs|test|deploy|benchmarks)\//.test(file)),
      [],
    );
  });

  it('has a base image of a Node that is recent enough', () => {
    const tag = /^ARG NODE_IMAGE=node:(\d+)-slim$/m.exec(readText('deploy/docker/Dockerfile'))?.[1];
    assert.ok(JSON.parse(readText('package.json')).engines.node.startsWith(`>=${tag}.`));
  });
});

for (const path of composeFiles) {
  describe(path, () => {
    const { services, secrets = {}, networks = {}, volumes = {} } = readYaml(path);
    const { gateway } = services;
    const entries = Object.entries(services) as [string, Document][];

    it('names settings that exist, and the version of the package', () => {
      for (const name of Object.keys(gateway.environment)) assert.ok(settingOf(name), name);
      assert.equal(gateway.image, `sluicegate:${version}`);
      assert.ok(existsSync(join(root, 'deploy/compose', gateway.build.context, gateway.build.dockerfile)));
    });

    it('has values that the gateway accepts', () => {
      const env = Object.fromEntries(
        Object.entries<string>(gateway.environment).filter(([name]) => !/_FILE$/.test(name)),
      );
      loadSettings({ env, cwd: tmpdir() });
    });

    it('has secrets by file only', () => {
      for (const [name, { environment = {}, secrets: used = [] }] of entries) {
        for (const [variable, value] of Object.entries<string>(environment)) {
          const setting = settingOf(variable) as SettingName | null;
          const secret = setting === null ? /PASSWORD|TOKEN|SECRET/.test(variable) : definitions[setting].secret;
          if (secret) assert.match(`${variable}=${value}`, /_FILE=\/run\/secrets\/\w+$/, name);
        }
        for (const secret of used) assert.match(secrets[secret].file, /^\.\/secrets\//);
      }
      for (const { file } of Object.values<Document>(secrets)) {
        assert.ok(
          readText('deploy/compose/make-secrets.sh').includes(`write ${file.slice('./secrets/'.length)} `),
          file,
        );
      }
      assert.match(readText('.gitignore'), /^\/deploy\/compose\/secrets\/$/m);
    });

    it('opens only the proxy to other machines', () => {
      for (const [name, { ports = [] }] of entries) {
        for (const port of ports)
          assert.ok(port.startsWith('127.0.0.1:') || (name === 'gateway' && /^(8000|8443):\1$/.test(port)), port);
      }
    });

    it('limits, checks and restarts each service', () => {
      for (const [name, service] of entries) {
        assert.ok(service.healthcheck?.test, name);
        assert.ok(service.deploy.resources.limits.memory && service.deploy.resources.limits.cpus, name);
        assert.equal(service.restart, 'unless-stopped', name);
        assert.ok(service.security_opt.includes('no-new-privileges:true'), name);
        for (const used of service.networks ?? []) assert.ok(used in networks, used);
        for (const mount of service.volumes ?? []) {
          const [from] = mount.split(':');
          assert.ok(from in volumes || existsSync(join(root, 'deploy/compose', from)), from);
        }
      }
      assert.equal(gateway.read_only, true);
    });

    it('gives the gateway time to end', () => {
      const {
        SLUICEGATE_SHUTDOWN_DELAY = definitions.shutdown_delay.default,
        SLUICEGATE_DRAIN_TIMEOUT = definitions.drain_timeout.default,
      } = gateway.environment;
      assert.ok(
        seconds(SLUICEGATE_SHUTDOWN_DELAY) + seconds(SLUICEGATE_DRAIN_TIMEOUT) + 8 <=
          seconds(gateway.stop_grace_period),
      );
    });
  });
}

it('Grafana and Prometheus find what Compose mounts', () => {
  const { services } = readYaml('deploy/compose/compose.yaml');
  const [provider] = readYaml('deploy/grafana/provisioning/dashboards/sluicegate.yml').providers;
  assert.ok(services.grafana.volumes.includes(`../grafana/dashboards:${provider.options.path}:ro`));
  const [datasource] = readYaml('deploy/grafana/provisioning/datasources/prometheus.yml').datasources;
  assert.equal(new URL(datasource.url).host, 'prometheus:9090');
  const { rule_files, scrape_configs } = readYaml('deploy/prometheus/prometheus.yml');
  for (const file of rule_files) assert.ok(services.prometheus.volumes.includes(`../prometheus/alerts.yml:${file}:ro`));
  const [{ job_name, static_configs }] = scrape_configs;
  assert.deepEqual([job_name, static_configs[0].targets], ['sluicegate', ['gateway:8100']]);
});

it('the declarative config of the example names plugins that exist', () => {
  const { plugins, services } = readYaml('deploy/compose/kong.yml');
  const known = pluginNames();
  for (const { name } of [...plugins, ...services.flatMap((service: Document) => service.plugins)])
    assert.ok(known.includes(name), name);
});
