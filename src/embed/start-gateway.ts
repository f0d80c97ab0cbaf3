import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type EmbeddedNode, startEmbeddedNode } from '../boot/embedded/start-embedded-node.ts';
import { createNodeCore, type NodeCore } from '../boot/node-core.ts';
import type { Plugin } from '../plugin-sdk/define-plugin.ts';
import { isPlugin } from '../plugin-sdk/define-plugin.ts';
import { preparePrefix } from '../shared/settings/kinds/prefix.ts';
import { startNoThreads } from '../shared/util/process/helper-threads.ts';
import { applyConfig } from './apply-config.ts';
import { EmbeddedGateway } from './embedded-gateway.ts';
import { type EmbeddedSettings, embeddedSettings } from './embedded-settings.ts';
import type { CreateGatewayOptions, Gateway } from './gateway.ts';
import { LocalThread } from './local-thread.ts';

/** Starts a gateway in this thread. When that fails, nothing of it is left. */
export async function startGateway(options: CreateGatewayOptions): Promise<Gateway> {
  const baseDirectory = directoryOf(options.from);
  const prepared = embeddedSettings(options, baseDirectory);
  startNoThreads();
  if (options.prefix !== undefined) preparePrefix(prepared.settings.prefix);
  let failed: (error: unknown) => void = () => {};
  const thread = new LocalThread({ plugins: pluginObjects(options), failed: (error) => failed(error) });
  const core = coreOf(options, prepared, baseDirectory, thread);
  try {
    const node = await startEmbeddedNode(core, prepared.warnings);
    failed = (error) => node.logs.node.crit('uncaught exception in the gateway; continuing', { err: error });
    if (options.config !== undefined) await applyConfig(node.loader, options.config);
    return gatewayOf(node, thread);
  } catch (error) {
    await core.shutdown.stop(false, 0);
    throw error;
  }
}

async function gatewayOf(node: EmbeddedNode, thread: LocalThread): Promise<Gateway> {
  const plane = await thread.plane();
  if (plane === null) throw new Error('the data plane has not started');
  return new EmbeddedGateway(node, plane);
}

function coreOf(
  { log, prefix }: CreateGatewayOptions,
  { settings, nodeId }: EmbeddedSettings,
  baseDirectory: string,
  thread: LocalThread,
): NodeCore {
  let taken = false;
  return createNodeCore({
    settings,
    nodeId,
    compileCache: '',
    baseDirectory,
    ownsProcess: false,
    inherited: {},
    exclusive: new Set(),
    supply: null,
    predecessor: null,
    threads: {
      borrowed: true,
      take: () => {
        if (taken) throw new TypeError('the data plane of an application starts once');
        taken = true;
        return thread;
      },
    },
    application: { plugins: thread.plugins, log: log ?? null, inMemory: prefix === undefined },
  });
}

/** What `import.meta.url` names is a file; its directory counts. */
function directoryOf(from: CreateGatewayOptions['from']): string {
  if (from === undefined) return process.cwd();
  if (from instanceof URL || from.startsWith('file:')) return dirname(fileURLToPath(from));
  return resolve(from);
}

function pluginObjects({ plugins = [] }: CreateGatewayOptions): readonly Plugin[] {
  const objects = plugins.filter((plugin) => typeof plugin !== 'string');
  const wrong = objects.findIndex((plugin) => !isPlugin(plugin));
  if (wrong >= 0) throw new TypeError(`plugins[${wrong}] is not created by definePlugin`);
  return objects;
}
