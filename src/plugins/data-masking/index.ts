import { definePlugin } from '../../plugin-sdk/index.ts';
import { maskData } from './handler.ts';
import { bodyNeeds } from './needs.ts';

export default definePlugin({
  name: 'data-masking',
  version: '1.0.0',
  priority: 775,
  protocols: ['http', 'https'],
  schema: () => import('./schema.ts'),
  adminRoutes: () => import('./admin.ts'),
  needs: bodyNeeds,
  setup: maskData,
});
