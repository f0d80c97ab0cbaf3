import { setTimeout as delay } from 'node:timers/promises';
import type { CommandContext } from '../command.ts';
import { endNode, findRunningNode, secondsOption } from '../node/running-node.ts';

export async function quit(context: CommandContext): Promise<number> {
  const node = findRunningNode(context);
  await delay(secondsOption(context, 'wait', 0));
  await endNode(node, 'SIGQUIT', secondsOption(context, 'timeout', 10));
  context.out('Sluicegate stopped (gracefully)');
  return 0;
}
