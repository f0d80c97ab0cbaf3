import type { PluginAdminAnswer, PluginAdminRequest, PluginAdminTools } from '../../plugin-sdk/index.ts';
import { HeadMask } from './head-mask.ts';
import { requestRefusal } from './refusals.ts';
import { RuleSets } from './rules/rule-sets.ts';
import { config as configSchema, type DataMaskingConfig, rulesProblem } from './schema.ts';

/** Maximum characters of a sample. */
const maxSampleLength = 262_144;

/** Masks the sample in the request. */
export async function preview({ body }: PluginAdminRequest, tools: PluginAdminTools): Promise<PluginAdminAnswer> {
  const found = await configOf(body, tools);
  if (typeof found === 'string') return badRequest(found);
  const { body: sample = '', content_type: type = 'application/json', query = '', direction = 'response' } = body;
  if (typeof sample !== 'string' || typeof type !== 'string' || typeof query !== 'string') {
    return badRequest('body, content_type and query must be strings');
  }
  if (sample.length > maxSampleLength) return badRequest(`body must not be longer than ${maxSampleLength} characters`);
  if (direction !== 'request' && direction !== 'response') return badRequest('direction must be request or response');
  const sets = new RuleSets(found);
  const { masker, head } = sets.of(direction, 0);
  try {
    const masked = masker === null || sample === '' ? sample : await masker.mask(type, Buffer.from(sample));
    const shown = typeof masked === 'string' ? masked : Buffer.from(masked).toString();
    const inLogs = new HeadMask(sets.rules, true);
    return {
      status: 200,
      json: { body: shown, query: head?.query?.(query) ?? query, logged_query: inLogs.query?.(query) ?? query },
    };
  } catch (error) {
    if (requestRefusal(error) === null) throw error;
    return badRequest((error as Error).message);
  }
}

/** The configuration in the request, or of an instance; a text: the error. */
async function configOf(
  { config, plugin }: PluginAdminRequest['body'],
  tools: PluginAdminTools,
): Promise<DataMaskingConfig | string> {
  if (typeof plugin === 'string') {
    const row = await tools.find('plugins', plugin);
    return row?.['name'] === 'data-masking'
      ? (row['config'] as DataMaskingConfig)
      : 'plugin must be the id of a data-masking plugin';
  }
  const parsed = configSchema.zod.safeParse(config);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return `config.${issue?.path.join('.')}: ${issue?.message}`;
  }
  return rulesProblem(parsed.data) ?? parsed.data;
}

function badRequest(message: string): PluginAdminAnswer {
  return { status: 400, json: { message } };
}
