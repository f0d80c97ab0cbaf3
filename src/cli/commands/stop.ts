import type { CommandContext } from '../command.ts';
import { endNode, findRunningNode, secondsOption } from '../node/running-node.ts';

export async function stop(context: CommandContext): Promise<number> {
  await endNode(findRunningNode(context), 'SIGTERM', secondsOption(context, 'timeout', 10));
  context.out('Sluicegate stopped');
  return 0;
}
