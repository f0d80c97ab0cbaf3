import { isBuiltin } from 'node:module';
import type { PluginCapability } from '../../plugin-sdk/capabilities.ts';
import type { PluginCode } from './code/plugin-code.ts';

/** Why a plugin seems to need a capability: what its own code imports or calls. */
export interface CapabilityUse {
  readonly capability: PluginCapability;
  /** `node:fs`, `fetch()`. */
  readonly by: string;
}

const modules: ReadonlyMap<string, PluginCapability> = new Map([
  ...['net', 'tls', 'http', 'https', 'http2', 'dgram', 'dns'].map((name) => [name, 'network'] as const),
  ...['fs', 'child_process', 'sqlite', 'cluster'].map((name) => [name, 'files'] as const),
  ['sluicegate/plugin-kit/net', 'network'],
  ['sluicegate/plugin-kit/delivery', 'network'],
]);

const imported = /\b(?:from|import|require)\s*\(?\s*(['"])([^'"\n]+)\1/g;

const calls: readonly (readonly [RegExp, PluginCapability, string])[] = [
  [/(?<![.\w$])fetch\s*\(/, 'network', 'fetch()'],
  [/(?<![.\w$])new\s+WebSocket\s*\(/, 'network', 'WebSocket'],
  [/(?<![.\w$])process\s*\.\s*env\b/, 'env', 'process.env'],
];

/**
 * What the text of a plugin's own modules shows, the first reason for each capability. A hint for people, no proof: code of its
 * packages is not searched, and there are other ways to each of these.
 */
export function capabilityUses({ modules: own }: PluginCode): readonly CapabilityUse[] {
  const found = new Map<PluginCapability, string>();
  const note = (capability: PluginCapability | undefined, by: string): void => {
    if (capability !== undefined && !found.has(capability)) found.set(capability, by);
  };
  for (const { source } of own.values()) {
    if (typeof source !== 'string') continue;
    for (const [, , name = ''] of source.matchAll(imported)) {
      const [bare = ''] = isBuiltin(name) ? name.replace(/^node:/, '').split('/') : [name];
      note(modules.get(bare), name);
    }
    for (const [call, capability, by] of calls) if (call.test(source)) note(capability, by);
  }
  return [...found].map(([capability, by]) => ({ capability, by }));
}
