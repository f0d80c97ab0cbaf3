import type {
  AccessContext,
  BaseContext,
  HeaderFilterContext,
  LogContext,
  RewriteContext,
} from '../../plugin-sdk/contexts.ts';
import type { PluginNeeds } from '../../plugin-sdk/define-plugin.ts';
import type { PluginPhases } from '../../plugin-sdk/phases.ts';
import type { PluginTools } from '../../plugin-sdk/tools.ts';
import { bodyPieces } from './body-pieces.ts';
import type { FunctionHost } from './function-host.ts';
import { type FunctionConfig, type FunctionPhase, functionName } from './phases.ts';
import { type NamedFunction, replyOrPromise, runSynchronously } from './run-functions.ts';
import { sandboxHost } from './sandbox/sandbox-host.ts';
import { trustedHost } from './trusted.ts';

/** Maximum bytes of a request body that functions read. */
export const maxFunctionBody = 1024 * 1024;

/** What an instance needs: bodies only if a function reads them. */
export function functionNeeds(config: FunctionConfig): PluginNeeds {
  const readsBody = config.access.some((text) => /\b(?:body|decodedBody|bodyText)\b/.test(text));
  return {
    ...(readsBody && { requestBody: { maxBytes: maxFunctionBody } }),
    ...(config.body_filter.length > 0 && { responseBody: { mode: 'stream' as const } }),
  };
}

/**
 * The phases of an instance of `pre-function` or `post-function`. Compiles its functions.
 *
 * @throws Error if the node does not allow functions (`untrusted_lua`), and if one of them cannot be compiled.
 */
export function functionPhases(plugin: string, config: FunctionConfig, tools: PluginTools): PluginPhases {
  const { untrustedFunctions: mode } = tools.settings;
  if (mode === 'off')
    throw new Error(`${plugin} does not run: untrusted_lua is off on this node (set it to sandbox or on)`);
  const host = mode === 'on' ? trustedHost(plugin, tools) : sandboxHost(plugin, tools);
  const compiled = (phase: FunctionPhase): readonly NamedFunction[] | null =>
    config[phase].length === 0
      ? null
      : config[phase].map((text, at) => namedFunction(plugin, host, phase, at + 1, text));
  const [certificate, rewrite, access] = [compiled('certificate'), compiled('rewrite'), compiled('access')];
  const [headerFilter, bodyFilter, log] = [compiled('header_filter'), compiled('body_filter'), compiled('log')];
  return {
    ...(certificate !== null && { certificate: certificateOf(certificate) }),
    ...(rewrite !== null && { rewrite: (context: RewriteContext) => replyOrPromise(rewrite, context) }),
    ...(access !== null && { access: (context: AccessContext) => replyOrPromise(access, context) }),
    ...(headerFilter !== null && {
      headerFilter: (context: HeaderFilterContext) => runSynchronously(headerFilter, context),
    }),
    ...(bodyFilter !== null && { bodyFilter: (context: HeaderFilterContext) => filterBody(bodyFilter, context) }),
    ...(log !== null && { log: (context: LogContext) => runSynchronously(log, context) }),
  };
}

function namedFunction(
  plugin: string,
  host: FunctionHost,
  phase: FunctionPhase,
  index: number,
  text: string,
): NamedFunction {
  return { name: functionName(plugin, phase, index), run: host.compile(phase, index, text) };
}

type Certificate = NonNullable<PluginPhases['certificate']>;

/** The first function that gives a certificate counts. */
function certificateOf(functions: readonly NamedFunction[]): Certificate {
  return async (handshake) => {
    for (const { run } of functions) {
      const context = (await run(handshake as unknown as BaseContext)) as Awaited<ReturnType<Certificate>> | undefined;
      if (context !== undefined && context !== null) return context;
    }
    return null;
  };
}

/** Functions see text, so a body with a content coding passes unchanged. */
function filterBody(functions: readonly NamedFunction[], context: HeaderFilterContext) {
  const coding = context.response.header('content-encoding');
  if (coding !== null && coding.toLowerCase() !== 'identity') return null;
  return bodyPieces((text, last) => {
    let current: string | null = text;
    for (const named of functions) {
      const result = runSynchronously([named], context, current, last);
      if (result === undefined) continue;
      if (result === null) return null;
      if (typeof result !== 'string') throw new TypeError(`${named.name} returned ${typeof result}; return a text`);
      current = result;
    }
    return current;
  });
}
