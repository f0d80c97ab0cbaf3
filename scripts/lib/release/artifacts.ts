import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from '../files.ts';

/** The parts of a CycloneDX document that are changed; the rest stays as npm wrote it. */
interface Sbom {
  readonly metadata: { readonly component: Record<string, unknown> };
  components: readonly { readonly 'bom-ref': string }[];
  dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface LockedPackage {
  readonly version: string;
  readonly dev?: boolean;
  /** A workspace. */
  readonly link?: boolean;
}

/**
 * `name@version` of every package that an installation contains: in node_modules, and in the built files of the dashboard, which must
 * have been built. `folder`: of the project.
 */
export function installedPackages(folder: string = root): ReadonlySet<string> {
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const bundled = JSON.parse(readFileSync(join(folder, 'dashboard/dist/licenses.json'), 'utf8')) as readonly {
    readonly name: string;
    readonly version: string;
  }[];
  const installed = Object.entries(packages).filter(
    ([path, { dev, link }]) => path.includes('node_modules/') && dev !== true && link !== true,
  );
  return new Set([
    ...installed.map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`),
    ...bundled.map(({ name, version }) => `${name}@${version}`),
  ]);
}

/** Runs `npm pack`, which builds first. Returns the path of the tarball. */
export function packTarball(folder: string): string {
  const output = npm('pack', '--json', '--pack-destination', folder);
  const [packed] = JSON.parse(output.slice(output.search(/^\[/m))) as { readonly filename: string }[];
  if (packed === undefined) throw new Error(`npm pack printed no package: ${output}`);
  return join(folder, packed.filename);
}

/**
 * Writes the software bill of materials: every package that an installation contains, with licence, checksum and what
 * needs it, from package-lock.json. CycloneDX 1.5, JSON.
 */
export function writeSbom(folder: string, name: string, version: string): string {
  // --omit=dev would leave out packages that the development needs too.
  const document: Sbom = JSON.parse(npm('sbom', '--sbom-format=cyclonedx', '--package-lock-only'));
  const installed = installedPackages();
  document.components = document.components.filter((component) => installed.has(component['bom-ref']));
  document.dependencies = document.dependencies
    .filter(({ ref }) => installed.has(ref) || ref === document.metadata.component['bom-ref'])
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => installed.has(one)) }));
  // npm takes the name from the folder.
  Object.assign(document.metadata.component, { name, type: 'application' });
  const path = join(folder, `${name}-${version}.cdx.json`);
  writeFileSync(path, `${JSON.stringify(document, null, 2)}\n`);
  return path;
}

/** Writes `SHA256SUMS`, for `sha256sum --check`. */
export function writeChecksums(folder: string, files: readonly string[]): string {
  const lines = files.map(
    (file) => `${createHash('sha256').update(readFileSync(file)).digest('hex')}  ${basename(file)}`,
  );
  const path = join(folder, 'SHA256SUMS');
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

function npm(...argv: readonly string[]): string {
  return execFileSync('npm', [...argv, '--loglevel=error'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 180_000,
  });
}
