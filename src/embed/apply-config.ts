import type { ConfigProblem } from '../control/declarative/contract.ts';
import { DocumentError } from '../control/declarative/contract.ts';
import type { ConfigLoader } from '../control/declarative/db-less/config-loader.ts';
import { LoadError } from '../control/declarative/db-less/declarative-config.ts';
import { documentFrom } from '../control/declarative/document/parse-document.ts';
import { placedMessages, placeText } from '../control/declarative/problems/problem-lines.ts';
import type { GatewayConfigSource } from '../shared/gateway-config/gateway-config.ts';
import { resolveConfig } from '../shared/gateway-config/resolve-config.ts';
import { GatewayConfigError } from './config-error.ts';

/** Loads the config; resolves when the data plane has it. Rejects with a `GatewayConfigError`. */
export async function applyConfig(loader: ConfigLoader, source: GatewayConfigSource): Promise<void> {
  try {
    const document = documentFrom(await resolveConfig(source));
    await loader.loadInTurn(document, async (writer) => {
      writer.attribute({ actor: '', action: 'apply', note: 'application' });
    });
  } catch (error) {
    if (error instanceof DocumentError) throw new GatewayConfigError([{ path: '', message: error.message }]);
    if (error instanceof LoadError && error.problems.length > 0)
      throw new GatewayConfigError(problemsOf(error.problems));
    throw error;
  }
}

function problemsOf(problems: readonly ConfigProblem[]) {
  return placedMessages(problems).map(({ path, message }) => ({ path: placeText(path), message }));
}
