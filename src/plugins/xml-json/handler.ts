import type { PluginPhases, PluginTools } from '../../plugin-sdk/index.ts';
import { Answers } from './answers.ts';
import { Converter } from './converter.ts';
import { Wishes } from './negotiation.ts';
import { optionsOf } from './options.ts';
import { Requests } from './requests.ts';
import type { XmlJsonConfig } from './schema.ts';

/** The phases of one instance, as far as its configuration needs them. */
export function convertBodies(config: XmlJsonConfig, tools: PluginTools): PluginPhases {
  const options = optionsOf(config);
  const wishes = new Wishes(options);
  const converter = new Converter(options.convert, tools.count);
  const requests = new Requests(options, wishes, converter);
  const answers = new Answers(options, wishes, converter, tools.log);
  const access: PluginPhases = { access: (context) => requests.access(context) };
  if (!options.responses) return access;
  const phases: PluginPhases = {
    ...access,
    shouldBufferResponse: (context) => answers.shouldBufferResponse(context),
    response: (context) => answers.response(context),
  };
  return options.client === null ? { ...phases, headerFilter: (context) => answers.headerFilter(context) } : phases;
}
