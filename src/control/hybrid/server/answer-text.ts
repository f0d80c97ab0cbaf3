import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds of work between two turns of the event loop. */
const maxTurn = 5;
const rowsPerCheck = 50;

/** The message with the answer to a call. Lists can be long, so others get their turn in between. */
export async function answerText(id: number, value: unknown): Promise<string> {
  if (!Array.isArray(value) || value.length <= rowsPerCheck) return `{"t":"result","id":${id},"value":${json(value)}}`;
  const texts: string[] = [];
  let end = performance.now() + maxTurn;
  for (const [index, row] of (value as readonly unknown[]).entries()) {
    texts.push(json(row));
    if (index % rowsPerCheck !== 0 || performance.now() < end) continue;
    await nextTurn();
    end = performance.now() + maxTurn;
  }
  return `{"t":"result","id":${id},"value":[${texts.join(',')}]}`;
}

function json(value: unknown): string {
  return JSON.stringify(value ?? null);
}
