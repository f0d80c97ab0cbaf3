// Renders the chart to deploy/kubernetes. Needs helm: go install helm.sh/helm/v3/cmd/helm@latest
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { manifestHeader, renderings, templateArguments } from './lib/deploy/chart.ts';
import { root } from './lib/files.ts';
import { finish } from './lib/report.ts';

const problems = renderings().flatMap((rendering) => {
  const helm = process.env['HELM'] ?? 'helm';
  const { status, stdout, stderr, error } = spawnSync(helm, templateArguments(rendering), {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) return [`${rendering.values}: ${error?.message ?? stderr.trim()}`];
  mkdirSync(join(root, 'deploy/kubernetes'), { recursive: true });
  writeFileSync(join(root, rendering.manifest), manifestHeader(rendering) + stdout.replace(/[ \t]+$/gm, ''));
  return [];
});

finish(`rendered ${renderings().length} manifests`, problems);
