import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Rig, startRig } from '../../../test/support/rig.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import type { ReloadOutcome } from './reload-outcome.ts';

/** Parts of the source of a plugin; each replaces the default. */
export interface PluginSource {
  /** More of the description. */
  readonly more?: string;
  /** Fields of the configuration, as source. */
  readonly fields?: string;
  /** What `setup` does, with `config` and `tools`. */
  readonly setup?: string;
  /** Statements of the first module. */
  readonly begin?: string;
}

/** A gateway with one plugin `mine` of a user, whose files the test changes. */
export interface ReloadRig extends AsyncDisposable {
  readonly rig: Rig;
  readonly folder: string;
  /** Writes the plugin. */
  write(source: PluginSource): Promise<void>;
  writeFile(name: string, text: string): Promise<void>;
  reload(observe?: number): Promise<ReloadOutcome>;
  /** The text that the plugin answers with. */
  text(): Promise<string>;
}

export function answering(text: string): PluginSource {
  return { setup: `return { access: () => replyText(200, '${text}') };` };
}

export async function startReloadRig(
  source: PluginSource,
  options: {
    readonly settings?: Partial<Settings>;
    readonly env?: Readonly<Record<string, string>>;
    readonly config?: object;
    readonly files?: Readonly<Record<string, string>>;
  } = {},
): Promise<ReloadRig> {
  const folder = await mkdtemp(join(tmpdir(), 'sluicegate-reload-'));
  const save = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text);
  const write = async ({ more = '', fields = '', setup = 'return {};', begin = '' }: PluginSource): Promise<void> => {
    await save(
      'index.ts',
      `import { definePlugin, httpProtocols } from 'sluicegate/plugin-sdk';
import { setup } from './handler.ts';
${begin}
export default definePlugin({
  name: 'mine', version: '1.0.0', priority: 500, protocols: httpProtocols,
  schema: () => import('./schema.ts'), setup, ${more}
});
`,
    );
    await save(
      'schema.ts',
      `import { integer, record, string } from 'sluicegate/plugin-sdk/schema';
export const config = record({ ${fields} });
export const unused = [integer, string];
`,
    );
    await save(
      'handler.ts',
      `import { reply } from 'sluicegate/plugin-sdk';
const replyText = (status: number, body: string) => reply({ status, body });
export const unused = [replyText];
export function setup(config: any, tools: any): any {
  ${setup}
}
`,
    );
  };
  for (const [name, text] of Object.entries(options.files ?? {})) await save(name, text);
  await write(source);
  const rig = await startRig({
    ...(options.env === undefined ? {} : { env: options.env }),
    settings: { plugins: ['bundled', join(folder, 'index.ts')], ...options.settings },
  });
  await rig.write('POST', '/plugins', { name: 'mine', config: options.config ?? {} });
  return {
    rig,
    folder,
    write,
    writeFile: save,
    reload: (observe = 0) => rig.gateway.gateway.pluginReload.run({ observe }),
    text: async () => (await fetch(rig.gateway.proxyUrl)).text(),
    async [Symbol.asyncDispose]() {
      await rig.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
