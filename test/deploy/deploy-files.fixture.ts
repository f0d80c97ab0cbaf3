import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { root } from '../../scripts/lib/files.ts';
import { findSetting } from '../../src/shared/settings/schema.ts';

/** A YAML document, read without a type: tests say what they expect. */
// biome-ignore lint/suspicious/noExplicitAny: a test that reads a wrong path fails.
export type Document = any;

export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

export function readYaml(path: string): Document {
  return parse(readText(path), { merge: true });
}

/** The resources of a manifest; throws when a document is not valid YAML. */
export function readResources(path: string): readonly Document[] {
  return parseAllDocuments(readText(path))
    .map((document) => {
      if (document.errors.length > 0) throw new Error(`${path}: ${document.errors[0]}`);
      return document.toJS() as Document;
    })
    .filter((resource) => resource !== null);
}

export function workloadOf(resources: readonly Document[]): Document {
  return resources.find(({ kind }) => kind === 'Deployment' || kind === 'DaemonSet');
}

/** The variables of the first container of a workload. */
export function variablesOf(workload: Document): Readonly<Record<string, string>> {
  const [container] = workload.spec.template.spec.containers;
  return Object.fromEntries(container.env.map(({ name, value }: Document) => [name, value]));
}

/** The setting that a variable sets; null: there is no such setting. */
export function settingOf(variable: string): string | null {
  const key = variable.replace(/^SLUICEGATE_/, '').toLowerCase();
  return findSetting(key) ?? findSetting(key.replace(/_file$/, ''));
}

/** Seconds of a value such as `30s`. */
export function seconds(text: string): number {
  const found = /^(\d+)s$/.exec(text)?.[1];
  if (found === undefined) throw new Error(`not a number of seconds: ${text}`);
  return Number(found);
}
