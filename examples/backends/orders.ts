import { type ExampleBackend, type JsonAnswer, type JsonRequest, notFound, startJsonBackend } from './json-backend.ts';

interface Order {
  readonly id: number;
  readonly user: number;
  readonly total: number;
}

/** `GET /` lists orders (`?user=` filters), `GET /{id}` shows one, `POST /` adds one. */
export async function startOrders(port = 0): Promise<ExampleBackend> {
  const orders: Order[] = [
    { id: 1, user: 42, total: 42.0 },
    { id: 2, user: 1, total: 18.36 },
  ];
  return await startJsonBackend('orders', port, (request) => answerOrders(orders, request));
}

function answerOrders(orders: Order[], request: JsonRequest): JsonAnswer {
  if (request.method === 'POST' && request.path === '/') return addOrder(orders, request.body);
  if (request.method !== 'GET') return { status: 405, body: { message: 'Method not allowed' } };
  if (request.path === '/') {
    const user = request.query.get('user');
    return { status: 200, body: { data: orders.filter((order) => user === null || String(order.user) === user) } };
  }
  const order = orders.find((candidate) => `/${candidate.id}` === request.path);
  return order === undefined ? notFound() : { status: 200, body: order };
}

function addOrder(orders: Order[], body: unknown): JsonAnswer {
  const { user, total } = (body ?? {}) as { user?: unknown; total?: unknown };
  if (typeof user !== 'number' || typeof total !== 'number') {
    return { status: 400, body: { message: 'user and total must be numbers' } };
  }
  const order = { id: orders.length + 1, user, total };
  orders.push(order);
  return { status: 201, body: order };
}
