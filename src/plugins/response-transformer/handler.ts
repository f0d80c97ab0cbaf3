import {
  type AccessContext,
  type HeaderFilterContext,
  type PluginPhases,
  type PluginTools,
  TransformValues,
} from '../../plugin-sdk/index.ts';
import { headerChange } from './header-rules.ts';
import { changesJson, concerns, jsonChange } from './json-rules.ts';
import type { ResponseTransformerConfig } from './schema.ts';
import { statusMatcher } from './statuses.ts';

export function transformResponse(config: ResponseTransformerConfig, { log }: PluginTools): PluginPhases {
  const isMeant = statusMatcher(config.if_status);
  const changeHeaders = headerChange(config, new TransformValues('answer'), log);
  const phases: PluginPhases = {};
  if (changeHeaders !== null) {
    phases.headerFilter = (context: HeaderFilterContext) => {
      if (isMeant(context.response.status)) changeHeaders(context);
    };
  }
  if (!changesJson(config)) return phases;
  phases.access = askForOneRange;
  phases.wantsBody = (context) => isMeant(context.response.status) && concerns(context);
  phases.response = jsonChange(config, new TransformValues('answer'), log);
  return phases;
}

/** Several ranges come as parts of a multipart body, which hides what is in it. Without the field the answer is the whole. */
function askForOneRange({ request, upstream }: AccessContext): undefined {
  if (request.header('range')?.includes(',') === true) upstream.removeHeader('Range');
}
