import type { CommandContext } from '../command.ts';
import { findRunningNode, send } from '../node/running-node.ts';

export async function reload(context: CommandContext): Promise<number> {
  send(findRunningNode(context), 'SIGHUP');
  context.out('Sluicegate reloaded');
  return 0;
}
