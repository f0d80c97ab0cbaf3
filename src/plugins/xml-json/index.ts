import { definePlugin, type PluginNeeds } from '../../plugin-sdk/index.ts';
import { convertBodies } from './handler.ts';
import type { XmlJsonConfig } from './schema.ts';

export default definePlugin({
  name: 'xml-json',
  version: '1.0.0',
  priority: 805,
  protocols: ['http', 'https'],
  schema: () => import('./schema.ts'),
  needs: ({ requests, responses, max_body_size: maxBytes }: XmlJsonConfig): PluginNeeds => ({
    ...(requests ? { requestBody: { maxBytes } } : {}),
    ...(responses ? { responseBody: { mode: 'buffer', maxBytes } } : {}),
  }),
  setup: convertBodies,
});
