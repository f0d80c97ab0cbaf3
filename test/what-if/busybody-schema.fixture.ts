import { integer, record, string } from '../../src/plugin-sdk/schema.ts';

export const config = record({
  does: string({ required: true, description: 'What it does with every request, see the plugin.' }),
  file: string({ required: true, default: '/nowhere', description: 'The file that it writes.' }),
  port: integer({ required: true, default: 1, description: 'The port that it connects to.' }),
});
