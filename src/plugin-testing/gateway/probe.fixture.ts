import { definePlugin, httpProtocols, type TypedPlugin } from '../../plugin-sdk/define-plugin.ts';
import type { PluginPhases } from '../../plugin-sdk/phases.ts';
import { type Infer, integer, record, string } from '../../plugin-sdk/schema.ts';
import type { PluginTools } from '../../plugin-sdk/tools.ts';

const config = record({
  mark: string({ required: true, default: 'a', description: 'Something to recognize an instance by.' }),
  number: integer({ required: true, default: 1, description: 'A number.' }),
});

export type ProbeConfig = Infer<typeof config>;

/** A plugin whose phases a test chooses. */
export function probePlugin(
  phases: (config: ProbeConfig, tools: PluginTools) => PluginPhases,
  more: { readonly requestBody?: number } = {},
): TypedPlugin<ProbeConfig> {
  return definePlugin<ProbeConfig>({
    name: 'probe',
    version: '1.0.0',
    priority: 700,
    protocols: httpProtocols,
    schema: { config },
    ...(more.requestBody === undefined ? {} : { needs: { requestBody: { maxBytes: more.requestBody } } }),
    setup: phases,
  });
}
