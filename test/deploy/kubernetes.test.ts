import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { describe, it } from 'node:test';
import { chartFolder, manifestHeader, renderings } from '../../scripts/lib/deploy/chart.ts';
import { definitions, type SettingName } from '../../src/shared/settings/schema.ts';
import { loadSettings } from '../../src/shared/settings/sources/load.ts';
import { version } from '../../src/version.ts';
import {
  type Document,
  readResources,
  readText,
  readYaml,
  seconds,
  settingOf,
  variablesOf,
  workloadOf,
} from './deploy-files.fixture.ts';

describe('the chart', () => {
  it('has the version of the package', () => {
    const { version: chart, appVersion } = readYaml(`${chartFolder}/Chart.yaml`);
    assert.deepEqual([chart, appVersion], [version, version]);
  });

  it('has a schema with exactly the values of values.yaml', () => {
    const keys = (value: Document, path: string): string[] =>
      Object.entries(value ?? {}).flatMap(([key, inner]) => {
        const schema = schemaAt(`${path}${key}`);
        const nested = schema?.additionalProperties === false;
        return [`${path}${key}`, ...(nested ? keys(inner, `${path}${key}.`) : [])];
      });
    const schema = JSON.parse(readText(`${chartFolder}/values.schema.json`));
    const schemaAt = (path: string): Document =>
      path.split('.').reduce((node: Document, key) => node?.properties?.[key], schema);
    const described = (node: Document, path: string): string[] =>
      Object.entries(node.properties ?? {}).flatMap(([key, inner]: [string, Document]) => [
        `${path}${key}`,
        ...described(inner, `${path}${key}.`),
      ]);
    const values = keys(readYaml(`${chartFolder}/values.yaml`), '');
    // Helm itself adds `global`.
    assert.deepEqual(
      described(schema, '')
        .filter((name) => name !== 'global')
        .sort(),
      values.sort(),
    );
  });

  it('names settings that exist', () => {
    const names = [
      ...readText(`${chartFolder}/templates/_helpers.tpl`).matchAll(/^\s+"(\w+)" |set \$settings "(\w+)"/gm),
    ];
    assert.ok(names.length > 15);
    for (const [, first, second] of names) assert.ok(settingOf(`SLUICEGATE_${first ?? second}`), first ?? second);
  });
});

for (const rendering of renderings()) {
  describe(rendering.manifest, () => {
    const resources = readResources(rendering.manifest);
    const workload = workloadOf(resources);
    const pod = workload.spec.template.spec;
    const [container] = pod.containers;
    const variables = variablesOf(workload);

    it('was rendered from the chart as it is', () => {
      assert.ok(readText(rendering.manifest).startsWith(manifestHeader(rendering)), 'run scripts/render-manifests.ts');
      for (const { metadata } of resources) assert.equal(metadata.labels['helm.sh/chart'], `sluicegate-${version}`);
      assert.equal(container.image, `sluicegate:${version}`);
    });

    it('names settings that exist', () => {
      for (const name of Object.keys(variables)) assert.ok(settingOf(name), name);
    });

    it('has values that the gateway accepts', () => {
      const env = Object.fromEntries(Object.entries(variables).filter(([name]) => !/_FILE$|_SSL_CERT/.test(name)));
      loadSettings({ env, cwd: tmpdir() });
    });

    it('has the ports of the listeners', () => {
      const ports = Object.fromEntries(
        container.ports.map(({ name, containerPort }: Document) => [name, containerPort]),
      );
      const role = variables['SLUICEGATE_ROLE'] ?? 'traditional';
      const proxy = role === 'control_plane' ? [undefined, undefined] : portsOf('proxy_listen', variables);
      assert.deepEqual([ports.http, ports.https], proxy);
      assert.deepEqual([ports.cluster], role === 'control_plane' ? portsOf('cluster_listen', variables) : [undefined]);
      assert.deepEqual([ports.status], portsOf('status_listen', variables));
      if (ports.admin !== undefined) assert.deepEqual([ports.admin], portsOf('admin_listen', variables));
      for (const { spec } of resources.filter(({ kind }) => kind === 'Service')) {
        for (const { targetPort } of spec.ports) assert.ok(ports[targetPort], targetPort);
      }
    });

    it('gives the gateway time to end', () => {
      const stop =
        seconds(variables['SLUICEGATE_SHUTDOWN_DELAY'] ?? '') + seconds(variables['SLUICEGATE_DRAIN_TIMEOUT'] ?? '');
      const sleep = container.lifecycle.preStop.sleep.seconds;
      // 2 s for each of the steps that write data.
      assert.ok(sleep + stop + 8 <= pod.terminationGracePeriodSeconds);
    });

    it('runs without rights', () => {
      assert.equal(pod.securityContext.runAsNonRoot, true);
      assert.notEqual(pod.securityContext.runAsUser, 0);
      assert.equal(pod.securityContext.seccompProfile.type, 'RuntimeDefault');
      assert.equal(pod.automountServiceAccountToken, false);
      const { allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities } = container.securityContext;
      assert.deepEqual([allowPrivilegeEscalation, readOnlyRootFilesystem], [false, true]);
      assert.deepEqual(capabilities, { drop: ['ALL'] });
    });

    it('writes only where a volume is mounted', () => {
      const mounts = container.volumeMounts.map(
        ({ mountPath, readOnly }: Document) => `${mountPath} ${readOnly ?? false}`,
      );
      assert.ok(mounts.includes(`${variables['SLUICEGATE_PREFIX']} false`));
      const volumes = pod.volumes.map(({ name }: Document) => name);
      for (const { name } of container.volumeMounts) assert.ok(volumes.includes(name), name);
    });

    it('reads each file from a volume', () => {
      const mounts = container.volumeMounts.map(({ mountPath }: Document) => mountPath);
      for (const [name, value] of Object.entries(variables)) {
        if (!/_FILE$|_SSL_CERT|_CLUSTER_(CA_)?CERT|DECLARATIVE_CONFIG/.test(name)) continue;
        assert.ok(
          mounts.some((path: string) => value.startsWith(`${path}/`)),
          `${name}=${value}`,
        );
      }
    });

    it('has no secret in it, and an Admin API without a token only on loopback', () => {
      assert.equal(
        resources.some(({ kind }) => kind === 'Secret'),
        false,
      );
      for (const [name] of Object.entries(variables)) {
        const setting = settingOf(name) as SettingName | null;
        if (setting !== null && definitions[setting].secret) assert.match(name, /_FILE$|_(?:SSL|CLUSTER)_CERT_KEY$/);
      }
      const listen = variables['SLUICEGATE_ADMIN_LISTEN'];
      assert.equal(listen === undefined, variables['SLUICEGATE_ROLE'] === 'data_plane');
      const open = listen !== undefined && !listen.startsWith('127.0.0.1:');
      assert.ok(!open || variables['SLUICEGATE_ADMIN_TOKEN_FILE'] !== undefined);
    });

    it('selects its pods', () => {
      const { labels } = workload.spec.template.metadata;
      const selectors = resources.flatMap(({ kind, spec }) => {
        if (kind === 'Service') return [spec.selector];
        if (kind === 'NetworkPolicy') return [spec.podSelector.matchLabels];
        return kind === 'PodDisruptionBudget' || kind === workload.kind ? [spec.selector.matchLabels] : [];
      });
      assert.ok(selectors.length >= 3);
      for (const selector of selectors) {
        for (const [name, value] of Object.entries(selector)) assert.equal(labels[name], value);
      }
      const scaler = resources.find(({ kind }) => kind === 'HorizontalPodAutoscaler');
      if (scaler !== undefined) assert.equal(scaler.spec.scaleTargetRef.name, workload.metadata.name);
    });
  });
}

describe('the manifests of hybrid mode', () => {
  const [control, data] = ['control-plane', 'data-plane'].map((name) =>
    readResources(`deploy/kubernetes/${name}.yaml`),
  );
  const settingsOf = (resources: readonly Document[]): Readonly<Record<string, string>> =>
    variablesOf(workloadOf(resources));
  const volumesOf = (resources: readonly Document[]): Document[] => workloadOf(resources).spec.template.spec.volumes;
  const servicesOf = (resources: readonly Document[]): string[] =>
    resources.filter(({ kind }) => kind === 'Service').map(({ metadata }) => metadata.name);

  it('data planes connect to the Service of the control planes, with the same secret', () => {
    const service = control?.find(({ metadata }) => metadata.name === 'control-sluicegate-cluster');
    const { name, namespace } = service.metadata;
    const { SLUICEGATE_CLUSTER_CONTROL_PLANE: address } = settingsOf(data ?? []);
    assert.equal(address, `${name}.${namespace}.svc:${service.spec.ports[0].port}`);
    const secret = ({ name }: Document): boolean => name === 'cluster';
    assert.deepEqual(volumesOf(data ?? []).find(secret), volumesOf(control ?? []).find(secret));
  });

  it('each has only what its role has', () => {
    assert.deepEqual(servicesOf(control ?? []), [
      'control-sluicegate-cluster',
      'control-sluicegate-status',
      'control-sluicegate-admin',
    ]);
    assert.deepEqual(servicesOf(data ?? []), ['data-sluicegate-proxy', 'data-sluicegate-status']);
    const { SLUICEGATE_DATABASE: database, ...settings } = settingsOf(data ?? []);
    assert.equal(database, 'off');
    assert.deepEqual(
      Object.keys(settings).filter((name) => /_PG_|_ADMIN_|DECLARATIVE/.test(name)),
      [],
    );
    assert.equal(
      data?.some(({ kind }) => kind === 'ConfigMap'),
      false,
    );
  });

  it('have names that differ, so that both fit into one namespace', () => {
    const names = [...(control ?? []), ...(data ?? [])].map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    assert.equal(new Set(names).size, names.length);
  });

  it('only pods of the Kubernetes cluster reach the listener for data planes', () => {
    const policy = control?.find(({ kind }) => kind === 'NetworkPolicy');
    const rule = policy.spec.ingress.find(({ ports }: Document) => ports[0].port === 'cluster');
    assert.deepEqual(rule.from, [{ namespaceSelector: {} }]);
  });

  it('a data plane that waits for a control plane is not restarted, and gets no requests', () => {
    const [{ startupProbe, livenessProbe, readinessProbe }] = workloadOf(data ?? []).spec.template.spec.containers;
    assert.deepEqual([startupProbe.httpGet.path, livenessProbe.httpGet.path], ['/status', '/status']);
    assert.equal(readinessProbe.httpGet.path, '/status/ready');
  });
});

it('the adapter serves the metric by which the autoscaler scales', () => {
  const [rule] = readYaml('deploy/prometheus/adapter-values.yml').rules.custom;
  assert.equal(rule.name.as, readYaml(`${chartFolder}/values.yaml`).autoscaling.requestsMetric);
});

/** The ports of a list of listeners: as the variables say, or the default. */
function portsOf(
  setting: 'proxy_listen' | 'status_listen' | 'admin_listen' | 'cluster_listen',
  variables: Readonly<Record<string, string>>,
): number[] {
  const text = variables[`SLUICEGATE_${setting.toUpperCase()}`] ?? String(definitions[setting].default);
  return text.split(',').map((one) => Number(/:(\d+)/.exec(one)?.[1]));
}
