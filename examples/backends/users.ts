import { type ExampleBackend, type JsonAnswer, type JsonRequest, notFound, startJsonBackend } from './json-backend.ts';

const users = [
  { id: 1, name: 'Ada', email: 'ada@example.com' },
  { id: 2, name: 'Grace', email: 'grace@example.com' },
  { id: 42, name: 'Douglas', email: 'douglas@example.com' },
];

/** `GET /` lists users, `GET /{id}` shows one. */
export async function startUsers(port = 0): Promise<ExampleBackend> {
  return await startJsonBackend('users', port, answerUsers);
}

function answerUsers(request: JsonRequest): JsonAnswer {
  if (request.method !== 'GET') return { status: 405, body: { message: 'Method not allowed' } };
  if (request.path === '/') return { status: 200, body: { data: users } };
  const user = users.find((candidate) => `/${candidate.id}` === request.path);
  return user === undefined ? notFound() : { status: 200, body: user };
}
